import ATT
import BluetoothTypes
import L2CAP

// MARK: - Values that the server sends

extension GATTServerSession {
    /// Whether the client is to be told of the value at `handle`: it has asked for it, its link is as secure as that asks
    /// for, and it does not hold old handles.
    package func wants(_ handle: UInt16) -> Bool {
        !ways(of: handle).isEmpty && !isHeldBack
    }

    /// How the client wants to be told of a value, as far as its link is secure enough for it now (Core Vol 3 Part C
    /// 10.3.1.1).
    private func ways(of handle: UInt16) -> ClientConfiguration {
        guard let choice = configurations[handle] else { return [] }
        guard let rule = rules[handle] else { return choice }
        return rule.served(choice, over: security)
    }

    /// Sends a value as the client chose; the client decides (behaviour 7.45), and notifications go first when it
    /// chose both.
    func push(_ value: consuming PacketBuffer, of handle: UInt16) {
        if ways(of: handle).contains(.notify) {
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
        valueBearer.notify(wanted.filter { ways(of: $0.handle).contains(.notify) })
        for (handle, value) in wanted where !ways(of: handle).contains(.notify) { push(value, of: handle) }
    }

    func hasRoom() {
        indicateChange()
        guard let server else { return }
        server.delegate?.server(server, isReadyToUpdate: self)
    }
}

// MARK: - Security

extension GATTServerSession {
    /// The client asks for a value that its link is not secure enough for.
    func askForSecurity(toSend handle: UInt16) {
        guard let rule = rules[handle], let choice = configurations[handle] else { return }
        guard rule.served(choice, over: security).isEmpty else { return }
        askForSecurity(rule.requirement(of: choice))
    }

    func askForSecurity(_ requirement: SecurityLevel) {
        guard !askedSecurity.includes(requirement) else { return }
        askedSecurity = askedSecurity.joined(with: requirement)
        onSecurityNeeded?(security.isSecureConnectionsOnly ? .secureConnections : requirement)
    }

    func securityChanged() {
        askedSecurity = .none
        for handle in unserved.sorted() {
            guard let choice = configurations[handle], let rule = rules[handle] else { continue }
            guard !rule.served(choice, over: security).isEmpty else { continue }
            unserved.remove(handle)
            report(handle, from: [], to: choice)
        }
        recordChanged()
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
            return [UInt8(truncatingIfNeeded: raw), 0]
        }
    }

    /// Why the client's own value cannot be `value`, which came over a link with `security`; nil when it can.
    func refusal(of value: PacketBuffer, for source: Attribute.Source, over security: LinkSecurity) -> ATTErrorCode? {
        switch source {
        case .fixed, .databaseHash: return .writeNotPermitted
        case .asked: return nil
        case .clientFeatures:
            guard !value.isEmpty else { return .invalidAttributeValueLength }
            // A feature that was announced stays (Core Vol 3 Part G 7.2).
            return ClientFeatures(announced: value).isSuperset(of: features) ? nil : .valueNotAllowed
        case .configuration(let handle, let rule):
            guard let wanted = Self.configuration(value) else { return .invalidAttributeValueLength }
            guard rule.choices.isSuperset(of: wanted) else { return .improperlyConfigured }
            // Giving up what was chosen asks for as much as choosing it.
            return security.attributeRefusal(of: rule.requirement(of: wanted.union(configurations[handle] ?? [])))
        }
    }

    /// Sets the client's own value, which was not refused, and began to arrive at `moment`.
    func setOwnValue(_ value: PacketBuffer, for source: Attribute.Source, since moment: LinkMoment) {
        let isEncrypted = securities.weakest(since: moment).isEncrypted
        switch source {
        case .fixed, .asked, .databaseHash: break
        case .clientFeatures:
            features = ClientFeatures(announced: value)
            if isEncrypted { provenFeatures = features }
            recordChanged()
        case .configuration(let handle, _):
            let old = configurations[handle, default: []]
            let new = Self.configuration(value) ?? []
            chosen.insert(handle)
            let isRepeated = isEncrypted && chosenInTheClear.remove(handle) != nil
            if !isEncrypted { chosenInTheClear.insert(handle) }
            configure(handle, new)
            if old != new || isRepeated { recordChanged() }
        }
    }

    /// Makes a choice about the value at `handle`, and tells of it when the link is as secure as it asks for.
    func configure(_ handle: UInt16, _ new: ClientConfiguration) {
        let old = configurations.removeValue(forKey: handle) ?? []
        let reported = unserved.remove(handle) == nil ? old : []
        guard !new.isEmpty else { return report(handle, from: reported, to: []) }
        configurations[handle] = new
        let rule = database?.subscriptionRule(of: handle)
        rules[handle] = rule?.isOpen == false ? rule : nil
        if let rule = rules[handle], rule.served(new, over: security).isEmpty { unserved.insert(handle) }
        report(handle, from: reported, to: unserved.contains(handle) ? [] : new)
    }

    /// Reserved bits are not looked at (AB-A11).
    private static func configuration(_ value: PacketBuffer) -> ClientConfiguration? {
        guard value.count == 2 else { return nil }
        return ClientConfiguration(rawValue: UInt16(value[0]) & 0x03)
    }
}
