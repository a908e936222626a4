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

/// The pending numbered requests to one peripheral. Each is completed once: by its response, or when the connection
/// ends (behaviour 15.11).
struct RequestLedger {
    typealias Completion = @Sendable (Result<PeerEvent, any Error>) -> Void

    /// The maximum number of pending requests, the same as on a link.
    static let maximum = 1_024

    private var waiting: [UInt32: Completion] = [:]
    private var last: UInt32 = 0

    /// Adds a request and returns its number, or nil if there are too many.
    mutating func add(_ completion: @escaping Completion) -> UInt32? {
        guard waiting.count < Self.maximum else { return nil }
        repeat { last &+= 1 } while last == 0 || waiting[last] != nil
        waiting[last] = completion
        return last
    }

    mutating func remove(_ number: UInt32) -> Completion? { waiting.removeValue(forKey: number) }

    /// Removes all requests and returns their completions in the order of asking.
    mutating func removeAll() -> [Completion] {
        defer { waiting = [:] }
        // Sorted by the distance behind the last number, since numbers wrap around.
        return waiting.sorted { last &- $0.key > last &- $1.key }.map(\.value)
    }
}
