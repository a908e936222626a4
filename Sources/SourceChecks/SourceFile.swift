/// A Swift source file. `name` identifies it in findings.
package struct SourceFile: Hashable, Sendable {
    package let name: String
    package let text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// A place in a source where Linux differs from Apple's platforms.
package struct SourceFinding: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// Does not compile on Linux.
        case error
        /// Compiles, but has no effect.
        case warning
    }

    package let file: String
    package let line: Int
    package let kind: Kind
    /// The difference and its remedy, in words.
    package let message: String

    package init(file: String, line: Int, kind: Kind, message: String) {
        self.file = file
        self.line = line
        self.kind = kind
        self.message = message
    }
}

extension SourceFinding: CustomStringConvertible {
    /// The compiler's diagnostic format, so that editors can jump to the place.
    package var description: String { "\(file):\(line): \(kind.rawValue): \(message)" }
}
