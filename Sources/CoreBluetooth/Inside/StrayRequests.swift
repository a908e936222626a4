/// Requests under way for attributes that are no longer part of the peripheral. Their answers come without a handle, in the
/// order of the requests of their kind.
struct StrayRequests {
    enum Kind {
        case includedServices, characteristics, descriptors
        case read, write, notify, readDescriptor, writeDescriptor
    }

    /// Requests of one kind that are remembered; those past it end without a callback.
    static let maximumPerKind = 64

    private var attributes: [Kind: [CBAttribute]] = [:]

    mutating func add(_ attribute: CBAttribute, _ kind: Kind) {
        guard attributes[kind, default: []].count < Self.maximumPerKind else { return }
        attributes[kind, default: []].append(attribute)
    }

    /// The attribute that the next answer of a kind is for.
    mutating func next<Attribute: CBAttribute>(_ kind: Kind) -> Attribute? {
        guard let first = attributes[kind]?.first else { return nil }
        attributes[kind]?.removeFirst()
        return first as? Attribute
    }
}
