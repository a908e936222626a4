/// Pending requests for attributes that are no longer part of the peripheral. Their responses carry no handle and
/// arrive in the order of the requests of each kind.
struct StrayRequests {
    enum Kind {
        case includedServices, characteristics, descriptors
        case read, write, notify, readDescriptor, writeDescriptor
    }

    /// The maximum number of remembered requests of one kind. Further ones end without a callback.
    static let maximumPerKind = 64

    private var attributes: [Kind: [CBAttribute]] = [:]

    mutating func add(_ attribute: CBAttribute, _ kind: Kind) {
        guard attributes[kind, default: []].count < Self.maximumPerKind else { return }
        attributes[kind, default: []].append(attribute)
    }

    /// Returns the attribute that the next response of a kind is for.
    mutating func next<Attribute: CBAttribute>(_ kind: Kind) -> Attribute? {
        guard let first = attributes[kind]?.first else { return nil }
        attributes[kind]?.removeFirst()
        return first as? Attribute
    }
}
