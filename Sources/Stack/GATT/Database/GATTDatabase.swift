import ATT
import BluetoothTypes

/// The attributes that a system offers, in handle order. All apps share one database (behaviour 7.11).
///
/// A service keeps its handles while it is published. They are reused only when no fresh handles are left.
package final class GATTDatabase {
    package static let maximumAttributes = 4096

    private(set) var attributes: [Attribute] = []
    private var firstFreshHandle = 1
    private var includes: [UInt16: [UInt16]] = [:]
    private var knownHash: DatabaseHash?

    /// Called with the handles of each service that is published or removed.
    var onChange: ((ClosedRange<UInt16>) -> Void)?

    package init() {}

    package static func attributeCount(of definition: ServiceDefinition) -> Int {
        ServiceLayout(definition, includedServices: []).attributes.count + definition.includedServices.count
    }

    package func add(_ definition: ServiceDefinition) throws(GATTDatabaseError) -> PublishedService {
        try check(definition)
        let included = try definition.includedServices.map { start throws(GATTDatabaseError) in
            guard let service = service(at: start) else { throw .unknownService(start) }
            return service
        }
        let layout = ServiceLayout(definition, includedServices: included)
        let count = layout.attributes.count
        guard attributes.count + count <= Self.maximumAttributes, let start = freeHandles(count) else { throw .full }
        let (placed, published) = layout.place(at: start)
        let position = attributes.firstIndex { $0.handle > start } ?? attributes.count
        attributes.insert(contentsOf: placed, at: position)
        firstFreshHandle = max(firstFreshHandle, Int(published.handles.upperBound) + 1)
        includes[start] = definition.includedServices
        changed(published.handles)
        return published
    }

    /// Removes the service whose declaration has the handle `start`.
    package func remove(_ start: UInt16) throws(GATTDatabaseError) {
        guard let service = service(at: start) else { throw .unknownService(start) }
        if let other = includes.first(where: { $0.value.contains(start) }) { throw .included(by: other.key) }
        let handles = start...service.groupEnd
        attributes.removeAll { handles.contains($0.handle) }
        includes[start] = nil
        changed(handles)
    }

    package func setValue(_ value: PacketBuffer, of handle: UInt16) throws(GATTDatabaseError) {
        guard let index = index(of: handle), case .fixed = attributes[index].source else { throw .noFixedValue(handle) }
        guard value.count <= ATTBearer.maximumAttributeLength else { throw .valueTooLong(attributes[index].type) }
        attributes[index].source = .fixed(value)
    }
}

// MARK: - Lookup

extension GATTDatabase {
    /// The Database Hash of the current definitions. It is computed on first use after a change.
    package var hash: DatabaseHash {
        if let knownHash { return knownHash }
        let hash = DatabaseHash(of: attributes)
        knownHash = hash
        return hash
    }

    private var brokenInvariant: String? {
        guard attributes.count <= Self.maximumAttributes else { return "too many attributes" }
        guard zip(attributes, attributes.dropFirst()).allSatisfy({ $0.handle < $1.handle }) else {
            return "the handles are not in ascending order, each used once"
        }
        guard Int(attributes.last?.handle ?? 0) < firstFreshHandle else { return "a handle in use counts as fresh" }
        return includes.keys.allSatisfy { service(at: $0) != nil } ? nil : "a removed service includes others"
    }

    private func changed(_ handles: ClosedRange<UInt16>) {
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        knownHash = nil
        onChange?(handles)
    }

    /// The rule for subscriptions to the value at `handle`; nil if the value can be neither notified nor indicated.
    func subscriptionRule(of handle: UInt16) -> SubscriptionRule? {
        for attribute in attributes[position(of: handle)...] {
            if case .configuration(handle, let rule) = attribute.source { return rule }
            if attribute.type == GATTUUID.characteristic { return nil }
        }
        return nil
    }

    package func contains(_ handle: UInt16) -> Bool { index(of: handle) != nil }

    subscript(handle: UInt16) -> Attribute? {
        index(of: handle).map { attributes[$0] }
    }

    subscript(range: ClosedRange<UInt16>) -> ArraySlice<Attribute> {
        let start = position(of: range.lowerBound)
        let end = range.upperBound == .max ? attributes.count : position(of: range.upperBound + 1)
        return attributes[start..<end]
    }

    private func service(at handle: UInt16) -> Attribute? {
        guard let attribute = self[handle],
            attribute.type == GATTUUID.primaryService || attribute.type == GATTUUID.secondaryService
        else { return nil }
        return attribute
    }

    private func index(of handle: UInt16) -> Int? {
        let position = position(of: handle)
        return position < attributes.count && attributes[position].handle == handle ? position : nil
    }

    /// The index of the first attribute whose handle is at least `handle`.
    private func position(of handle: UInt16) -> Int {
        var low = 0
        var high = attributes.count
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: - Publishing

extension GATTDatabase {
    private func check(_ definition: ServiceDefinition) throws(GATTDatabaseError) {
        for characteristic in definition.characteristics {
            try check(characteristic.source, of: characteristic.uuid)
            for descriptor in characteristic.descriptors { try check(descriptor.source, of: descriptor.uuid) }
        }
    }

    private func check(_ source: AttributeSource, of uuid: BluetoothUUID) throws(GATTDatabaseError) {
        if case .fixed(let value) = source, value.count > ATTBearer.maximumAttributeLength { throw .valueTooLong(uuid) }
    }

    /// The first of `count` consecutive free handles: fresh ones, else the first sufficiently large gap.
    private func freeHandles(_ count: Int) -> UInt16? {
        if firstFreshHandle + count - 1 <= Int(UInt16.max) { return UInt16(firstFreshHandle) }
        var candidate = 1
        for attribute in attributes {
            if Int(attribute.handle) - candidate >= count { break }
            candidate = Int(attribute.handle) + 1
        }
        return candidate + count - 1 <= Int(UInt16.max) ? UInt16(candidate) : nil
    }
}
