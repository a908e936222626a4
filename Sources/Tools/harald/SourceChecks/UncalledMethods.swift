/// Finds delegate methods that compile but are never called.
///
/// On Linux, optional requirements are default implementations in an extension. A class that conforms without declaring
/// the method adopts the default for itself and all its subclasses. A method whose types differ from the requirement's
/// is an unrelated method. With Objective-C, the name alone decides at run time.
struct UncalledMethods {
    private let bodies: [Declarations.Body]
    private let optional: OptionalMethods
    private let classes: Set<String>

    init(_ declarations: [Declarations], optional: OptionalMethods) {
        bodies = declarations.flatMap(\.bodies)
        self.optional = optional
        classes = Set(bodies.filter { $0.kind == .class }.map(\.name))
    }

    var findings: [SourceFinding] {
        classes.sorted().flatMap { name in added(by: name) + mistyped(in: name) }
    }

    private func inherits(_ name: String) -> [String] { bodies.filter { $0.name == name }.flatMap(\.inherits) }

    private func methods(of name: String) -> [Declarations.Method] {
        bodies.filter { $0.name == name && $0.kind != .protocol }.flatMap(\.methods)
    }

    /// Returns the class and its superclasses, the class itself first.
    private func line(of name: String) -> [String] {
        var line = [name]
        while let parent = inherits(line[line.count - 1]).first(where: classes.contains), !line.contains(parent) {
            line.append(parent)
        }
        return line
    }

    /// Returns the delegate protocols that a class conforms to, directly or through other protocols.
    private func delegates(of name: String) -> [String] {
        var seen: Set<String> = []
        var rest = inherits(name)
        while let next = rest.popLast() {
            if !classes.contains(next), seen.insert(next).inserted { rest += inherits(next) }
        }
        return seen.filter { optional.byProtocol[$0] != nil }.sorted()
    }

    /// Finds methods that a subclass adds although its base class conforms without them.
    private func added(by name: String) -> [SourceFinding] {
        let line = line(of: name)
        return line.dropFirst().flatMap { base in
            delegates(of: base).flatMap { delegate in
                let taken = line.dropFirst().flatMap(methods)
                let missing = (optional.byProtocol[delegate] ?? []).filter { method in
                    !taken.contains { $0.isSame(as: method) }
                }
                return methods(of: name)
                    .filter { method in !method.isOverride && missing.contains { $0.isSame(as: method) } }
                    .map { method in
                        SourceFinding(
                            file: method.file,
                            line: method.line,
                            kind: .warning,
                            message: """
                                \(method.signature) is never called: \(base) conforms to \(delegate) without declaring it; \
                                declare it there and override it here
                                """
                        )
                    }
            }
        }
    }

    /// Finds methods that match a requirement's name but not its types.
    private func mistyped(in name: String) -> [SourceFinding] {
        let optionals = line(of: name).flatMap(delegates).flatMap { optional.byProtocol[$0] ?? [] }
        return methods(of: name).filter { method in
            let rivals = optionals.filter { $0.signature == method.signature }
            return !rivals.isEmpty && !rivals.contains { $0.isSame(as: method) }
        }
        .map { method in
            SourceFinding(
                file: method.file,
                line: method.line,
                kind: .warning,
                message: "\(method.signature) is never called: its types differ from those of the delegate's method"
            )
        }
    }
}
