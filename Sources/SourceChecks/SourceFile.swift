/// A file of Swift source, by the name under which findings speak of it.
package struct SourceFile: Hashable, Sendable {
    package let name: String
    package let text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// Something in a source that Linux does not do as Apple's systems do it.
package struct Finding: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// It does not compile.
        case error
        /// It compiles, and does nothing.
        case warning
    }

    package let file: String
    package let line: Int
    package let kind: Kind
    /// What there is, and what to do about it.
    package let message: String

    package init(file: String, line: Int, kind: Kind, message: String) {
        self.file = file
        self.line = line
        self.kind = kind
        self.message = message
    }
}

extension Finding: CustomStringConvertible {
    /// As compilers write it, so that editors find the place.
    package var description: String { "\(file):\(line): \(kind.rawValue): \(message)" }
}
