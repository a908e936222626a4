/// A Swift source file. `name` identifies it in findings.
struct SourceFile: Hashable, Sendable {
    let name: String
    let text: String

    /// Whether this is the file at a path, or is in the directory there.
    func isAt(_ path: String) -> Bool {
        let path = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return name == path || name.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}

/// A place in a source where Linux differs from Apple's platforms.
struct SourceFinding: Hashable, Sendable {
    enum Kind: String, Sendable {
        /// Does not compile on Linux.
        case error
        /// Compiles, but has no effect.
        case warning
    }

    let file: String
    let line: Int
    let kind: Kind
    /// The difference and its remedy, in words.
    let message: String
}

extension SourceFinding: CustomStringConvertible {
    /// The compiler's diagnostic format, so that editors can jump to the place.
    var description: String { "\(file):\(line): \(kind.rawValue): \(message)" }
}

/// The findings of one cause: the same message, at one place or many.
struct SourceCause: Hashable, Sendable {
    let kind: SourceFinding.Kind
    let message: String
    /// The file and line of each place.
    let places: [String]

    /// Groups findings by their cause: errors first, and otherwise in the order of their first places.
    static func of(_ findings: [SourceFinding]) -> [SourceCause] {
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
    var description: String {
        let more = places.count == 1 ? "" : " (and at \(places.count - 1) more: \(others))"
        return "\(places[0]): \(kind.rawValue): \(message)\(more)"
    }

    private var others: String {
        let shown = places.dropFirst().prefix(3).joined(separator: ", ")
        return places.count > 4 ? shown + ", …" : shown
    }
}
