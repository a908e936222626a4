/// A Swift source file. `name` identifies it in findings.
package struct SourceFile: Hashable, Sendable {
    package let name: String
    package let text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// Whether this is the file at a path, or is in the directory there.
    package func isAt(_ path: String) -> Bool {
        let path = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return name == path || name.hasPrefix(path.hasSuffix("/") ? path : path + "/")
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

/// The findings of one cause: the same message, at one place or many.
package struct SourceCause: Hashable, Sendable {
    package let kind: SourceFinding.Kind
    package let message: String
    /// The file and line of each place.
    package let places: [String]

    /// Groups findings by their cause: errors first, and otherwise in the order of their first places.
    package static func of(_ findings: [SourceFinding]) -> [SourceCause] {
        var order: [String] = []
        var groups: [String: [SourceFinding]] = [:]
        for finding in findings {
            let key = "\(finding.kind.rawValue) \(finding.message)"
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(finding)
        }
        let causes = order.compactMap { groups[$0] }.map { group in
            SourceCause(
                kind: group[0].kind,
                message: group[0].message,
                places: group.map { "\($0.file):\($0.line)" }
            )
        }
        return causes.filter { $0.kind == .error } + causes.filter { $0.kind == .warning }
    }
}

extension SourceCause: CustomStringConvertible {
    /// The compiler's diagnostic format for the first place, with the number of further ones.
    package var description: String {
        let more = places.count == 1 ? "" : " (and at \(places.count - 1) more: \(others))"
        return "\(places[0]): \(kind.rawValue): \(message)\(more)"
    }

    private var others: String {
        let shown = places.dropFirst().prefix(3).joined(separator: ", ")
        return places.count > 4 ? shown + ", …" : shown
    }
}
