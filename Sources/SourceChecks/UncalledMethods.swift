/// Finds methods of delegates that compile and that nobody ever calls.
///
/// An optional requirement is a default in an extension here. So a class that conforms without the method has taken the
/// default for itself and all its subclasses, and a method whose types are not quite those of the requirement is another
/// method. With Objective-C the name alone decides, when it is called.
struct UncalledMethods {
    private let bodies: [Declarations.Body]
    private let optional: OptionalMethods
    private let classes: Set<String>

    init(_ declarations: [Declarations], optional: OptionalMethods) {
        bodies = declarations.flatMap(\.bodies)
        self.optional = optional
        classes = Set(bodies.filter { $0.kind == .class }.map(\.name))
    }

    var findings: [Finding] {
        classes.sorted().flatMap { name in added(by: name) + mistyped(in: name) }
    }

    private func inherits(_ name: String) -> [String] { bodies.filter { $0.name == name }.flatMap(\.inherits) }

    private func methods(of name: String) -> [Declarations.Method] {
        bodies.filter { $0.name == name && $0.kind != .protocol }.flatMap(\.methods)
    }

    /// The class and those above it, from the bottom up.
    private func line(of name: String) -> [String] {
        var line = [name]
        while let parent = inherits(line[line.count - 1]).first(where: classes.contains), !line.contains(parent) {
            line.append(parent)
        }
        return line
    }

    /// The delegate protocols that a class says it conforms to, by itself or by way of other protocols.
    private func delegates(of name: String) -> [String] {
        var seen: Set<String> = []
        var rest = inherits(name)
        while let next = rest.popLast() {
            if !classes.contains(next), seen.insert(next).inserted { rest += inherits(next) }
        }
        return seen.filter { optional.byProtocol[$0] != nil }.sorted()
    }

    /// What a class adds to a base that conforms without it.
    private func added(by name: String) -> [Finding] {
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
                        Finding(
                            file: method.file,
                            line: method.line,
                            kind: .warning,
                            message: """
                                \(method.signature) is never called: \(base) conforms to \(delegate) and does not have it; \
                                declare it there and override it here
                                """
                        )
                    }
            }
        }
    }

    /// What a class has beside a requirement of the same name.
    private func mistyped(in name: String) -> [Finding] {
        let optionals = line(of: name).flatMap(delegates).flatMap { optional.byProtocol[$0] ?? [] }
        return methods(of: name).filter { method in
            let rivals = optionals.filter { $0.signature == method.signature }
            return !rivals.isEmpty && !rivals.contains { $0.isSame(as: method) }
        }
        .map { method in
            Finding(
                file: method.file,
                line: method.line,
                kind: .warning,
                message: "\(method.signature) is never called: its types are not those of the delegate's method"
            )
        }
    }
}
