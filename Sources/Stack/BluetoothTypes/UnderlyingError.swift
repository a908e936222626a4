/// The error of another layer, type-erased for a layer that does not depend on that one. Cast ``error`` to inspect it.
package struct UnderlyingError: Error, Hashable, Sendable, CustomStringConvertible {
    package let error: any Error & Hashable & Sendable

    package init(_ error: any Error & Hashable & Sendable) {
        self.error = error
    }

    package static func == (one: UnderlyingError, other: UnderlyingError) -> Bool {
        func isEqual<E: Hashable>(_ error: E) -> Bool { other.error as? E == error }
        return isEqual(one.error)
    }

    package func hash(into hasher: inout Hasher) {
        error.hash(into: &hasher)
    }

    package var description: String { "\(error)" }
}
