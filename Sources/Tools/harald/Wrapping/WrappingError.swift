/// Why a package cannot be wrapped, with what to do about it.
struct WrappingError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Receives what wrapping a package prints, line by line.
struct WrappingOutput: Sendable {
    /// Receives results, such as the differences of an adapted copy.
    let result: @Sendable (String) -> Void
    /// Receives what is being done, and the output of programs that failed.
    let notice: @Sendable (String) -> Void
}
