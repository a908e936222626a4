import ServiceMessages

/// The attributes that pending requests to one peripheral are about. Service Changed may invalidate an attribute while
/// a request is pending; the delegate is called for it all the same (behaviour 4.20).
///
/// Responses to requests of one kind about one handle arrive in the order of the requests. Requests for attributes that
/// are no longer part of the peripheral have handle 0.
struct PendingRequests {
    enum Kind {
        case includedServices, characteristics, descriptors
        case read, write, notify, readDescriptor, writeDescriptor
    }

    private struct Key: Hashable {
        let kind: Kind
        let handle: AttributeHandle
    }

    /// The maximum number of remembered requests, the same as on a link. Further ones end without a callback if their
    /// attribute is invalidated before the response.
    static let maximum = RequestLedger.maximum

    private var attributes: [Key: [CBAttribute]] = [:]
    private var count = 0

    mutating func add(_ attribute: CBAttribute, _ kind: Kind, at handle: AttributeHandle) {
        guard count < Self.maximum else { return }
        count += 1
        attributes[Key(kind: kind, handle: handle), default: []].append(attribute)
    }

    /// Adds a request about an attribute that is part of the peripheral.
    mutating func add(_ attribute: CBAttribute, _ request: LinkRequest) {
        if let kind = Kind(request) { add(attribute, kind, at: attribute.handle) }
    }

    /// Removes and returns the attribute that the next response of a kind for a handle is about.
    mutating func next<Attribute: CBAttribute>(_ kind: Kind, at handle: AttributeHandle) -> Attribute? {
        let key = Key(kind: kind, handle: handle)
        guard let index = attributes.index(forKey: key) else { return nil }
        count -= 1
        let first = attributes.values[index].removeFirst()
        if attributes.values[index].isEmpty { attributes.remove(at: index) }
        return first as? Attribute
    }
}

extension PendingRequests.Kind {
    fileprivate init?(_ request: LinkRequest) {
        switch request {
        case .discoverIncludedServices: self = .includedServices
        case .discoverCharacteristics: self = .characteristics
        case .discoverDescriptors: self = .descriptors
        case .readCharacteristic: self = .read
        case .writeCharacteristic: self = .write
        case .setNotify: self = .notify
        case .readDescriptor: self = .readDescriptor
        case .writeDescriptor: self = .writeDescriptor
        default: return nil
        }
    }
}
