import ATT
import BluetoothTypes

// MARK: - Values that the server sends

extension GATTServerSession {
    /// Whether the client is to be told of the value at `handle`: it has asked for it, its link is as secure as that asks
    /// for, and it does not hold old handles.
    public func wants(_ handle: UInt16) -> Bool {
        guard let configuration = configurations[handle], !configuration.isEmpty, !isHeldBack else { return false }
        guard !requirements.isEmpty, let requirement = requirements[handle] else { return true }
        return security.refusal(of: requirement) == nil
    }

    /// Sends a value as the client chose; the client decides (behaviour 7.45), and notifications go first when it
    /// chose both.
    func push(_ value: consuming PacketBuffer, of handle: UInt16) {
        if configurations[handle]?.contains(.notify) == true {
            _ = valueBearer.notify(value, of: handle, mayJoin: features.contains(.multipleNotifications))
        } else {
            _ = valueBearer.indicate(value, of: handle) { _ in }
        }
    }

    /// Sends several values, those that are notified together if the client knows how to take them.
    func push(_ values: [(handle: UInt16, value: PacketBuffer)]) {
        let wanted = values.filter { wants($0.handle) }
        guard features.contains(.multipleNotifications) else {
            return wanted.forEach { push($0.value, of: $0.handle) }
        }
        let isNotified = { [configurations] (handle: UInt16) in configurations[handle]?.contains(.notify) == true }
        valueBearer.notify(wanted.filter { isNotified($0.handle) })
        for (handle, value) in wanted where !isNotified(handle) { push(value, of: handle) }
    }

    func hasRoom() {
        indicateChange()
        guard let server else { return }
        server.delegate?.server(server, isReadyToUpdate: self)
    }
}

// MARK: - What the client writes about itself

extension GATTServerSession {
    /// The client's own value of an attribute that is different for each client, or the database's.
    func ownValue(_ source: Attribute.Source) -> PacketBuffer? {
        switch source {
        case .fixed(let value): return value
        case .asked: return nil
        case .clientFeatures: return [features.rawValue]
        case .databaseHash: return PacketBuffer(database?.hash.octets ?? [])
        case .configuration(let handle, _):
            let raw = configurations[handle, default: []].rawValue
            return [UInt8(truncatingIfNeeded: raw), UInt8(raw >> 8)]
        }
    }

    /// Why the client's own value cannot be `value`; nil when it can.
    func refusal(of value: PacketBuffer, for source: Attribute.Source) -> ATTErrorCode? {
        switch source {
        case .fixed, .databaseHash: return .writeNotPermitted
        case .asked: return nil
        case .clientFeatures:
            guard !value.isEmpty else { return .invalidAttributeValueLength }
            // A feature that was announced stays (Core Vol 3 Part G 7.2).
            return ClientFeatures(announced: value).isSuperset(of: features) ? nil : .valueNotAllowed
        case .configuration(_, let choices):
            guard let wanted = Self.configuration(value) else { return .invalidAttributeValueLength }
            return choices.isSuperset(of: wanted) ? nil : .improperlyConfigured
        }
    }

    /// Sets the client's own value, which was not refused.
    func setOwnValue(_ value: PacketBuffer, for source: Attribute.Source) {
        switch source {
        case .fixed, .asked, .databaseHash: break
        case .clientFeatures:
            features = ClientFeatures(announced: value)
            recordChanged()
        case .configuration(let handle, _):
            let old = configurations[handle, default: []]
            let new = Self.configuration(value) ?? []
            configure(handle, new)
            if old != new { recordChanged() }
        }
    }

    /// Makes a choice about the value at `handle`, and tells of it.
    func configure(_ handle: UInt16, _ new: ClientConfiguration) {
        let old = configurations.removeValue(forKey: handle) ?? []
        requirements[handle] = nil
        if !new.isEmpty {
            configurations[handle] = new
            if let requirement = database?.requirement(ofConfiguring: handle), requirement > .none {
                requirements[handle] = requirement
            }
        }
        report(handle, from: old, to: new)
    }

    /// Reserved bits are not looked at (AB-A11).
    private static func configuration(_ value: PacketBuffer) -> ClientConfiguration? {
        guard value.count == 2 else { return nil }
        return ClientConfiguration(rawValue: UInt16(value[0]) & 0x03)
    }
}
