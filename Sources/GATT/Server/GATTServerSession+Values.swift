import ATT
import BluetoothTypes
import L2CAP

// MARK: - Notifications and indications

extension GATTServerSession {
    /// Whether to send the value at `handle` to the client: it has subscribed, its link is secure enough, and it does
    /// not hold old handles.
    package func wants(_ handle: UInt16) -> Bool {
        !ways(of: handle).isEmpty && !isHeldBack
    }

    /// The part of the client's configuration of a value for which its link is secure enough now (Core Vol 3 Part C
    /// 10.3.1.1).
    private func ways(of handle: UInt16) -> ClientConfiguration {
        guard let choice = configurations[handle] else { return [] }
        guard let rule = rules[handle] else { return choice }
        return rule.served(choice, over: linkSecurity)
    }

    /// Sends a value in the way that the client has configured (behaviour 7.45). If it configured both, the value is
    /// notified.
    func push(_ value: consuming PacketBuffer, of handle: UInt16) {
        if ways(of: handle).contains(.notify) {
            _ = valueBearer.notify(value, of: handle, mayJoin: features.contains(.multipleNotifications))
        } else {
            _ = valueBearer.indicate(value, of: handle) { _ in }
        }
    }

    /// Sends several values. Those to be notified are combined if the client supports it.
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
    /// Asks for more security if the client has subscribed to a value for which its link is not secure enough.
    func askForSecurity(toSend handle: UInt16) {
        guard let rule = rules[handle], let choice = configurations[handle] else { return }
        guard rule.served(choice, over: linkSecurity).isEmpty else { return }
        askForSecurity(rule.requirement(of: choice))
    }

    func askForSecurity(_ requirement: SecurityLevel) {
        guard !askedSecurity.includes(requirement) else { return }
        askedSecurity = askedSecurity.joined(with: requirement)
        onSecurityNeeded?(linkSecurity.isSecureConnectionsOnly ? .secureConnections : requirement)
    }

    /// Called by the owner when ``linkSecurity`` has changed: evaluates the client's subscriptions again.
    package func linkSecurityChanged(from old: LinkSecurity) {
        if old.isEncrypted, !linkSecurity.isEncrypted { keepProven(over: old) }
        if !old.isEncrypted, linkSecurity.isEncrypted { tellChangesAgain() }
        askedSecurity = .none
        for handle in unserved.sorted() {
            guard let choice = configurations[handle], let rule = rules[handle] else { continue }
            guard !rule.served(choice, over: linkSecurity).isEmpty else { continue }
            unserved.remove(handle)
            report(handle, from: [], to: choice)
        }
        recordChanged()
    }
}

// MARK: - Per-client values

extension GATTServerSession {
    /// The value of an attribute that the database or this session stores; nil if the delegate has it.
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

    /// The reason why the client's own value cannot become `value`, which arrived over a link with this security; nil
    /// if it can.
    func refusal(
        of value: PacketBuffer,
        for source: Attribute.Source,
        over linkSecurity: LinkSecurity
    ) -> ATTErrorCode? {
        switch source {
        case .fixed, .databaseHash: return .writeNotPermitted
        case .asked: return nil
        case .clientFeatures:
            guard !value.isEmpty else { return .invalidAttributeValueLength }
            // A feature remains announced (Core Vol 3 Part G 7.2).
            return ClientFeatures(announced: value).isSuperset(of: features) ? nil : .valueNotAllowed
        case .configuration(let handle, let rule):
            guard let wanted = Self.configuration(value) else { return .invalidAttributeValueLength }
            guard rule.choices.isSuperset(of: wanted) else { return .improperlyConfigured }
            // Unsubscribing requires as much security as subscribing.
            return linkSecurity.attributeRefusal(of: rule.requirement(of: wanted.union(configurations[handle] ?? [])))
        }
    }

    /// Sets the client's own value, which was accepted and began to arrive at `moment`.
    func setOwnValue(_ value: PacketBuffer, for source: Attribute.Source, since moment: LinkMoment) {
        let isEncrypted = history.linkSecurity(since: moment).isEncrypted
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

    /// Applies a configuration of the value at `handle`, and reports it once the link is as secure as it requires.
    func configure(_ handle: UInt16, _ new: ClientConfiguration) {
        let old = configurations.removeValue(forKey: handle) ?? []
        let reported = unserved.remove(handle) == nil ? old : []
        guard !new.isEmpty else { return report(handle, from: reported, to: []) }
        configurations[handle] = new
        let rule = database?.subscriptionRule(of: handle)
        rules[handle] = rule?.isOpen == false ? rule : nil
        if let rule = rules[handle], rule.served(new, over: linkSecurity).isEmpty { unserved.insert(handle) }
        report(handle, from: reported, to: unserved.contains(handle) ? [] : new)
    }

    /// Decodes a configuration. Reserved bits are ignored (AB-A11).
    private static func configuration(_ value: PacketBuffer) -> ClientConfiguration? {
        guard value.count == 2 else { return nil }
        return ClientConfiguration(rawValue: UInt16(value[0]) & 0x03)
    }
}
