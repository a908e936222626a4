/// The optional methods of delegate protocols: those with a default implementation in an extension.
struct OptionalMethods {
    private(set) var byProtocol: [String: [Declarations.Method]] = [:]

    init(_ declarations: [Declarations]) {
        let bodies = declarations.flatMap(\.bodies)
        let protocols = Set(bodies.filter { $0.kind == .protocol }.map(\.name))
        for body in bodies where body.kind == .extension && protocols.contains(body.name) {
            byProtocol[body.name, default: []] += body.methods
        }
    }

    var names: Set<String> { Set(byProtocol.values.joined().map(\.name)) }
}
