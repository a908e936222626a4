import BluetoothTypes

/// A client's configurations of values, and those among them for which its link is secure enough.
struct ClientSubscriptions {
    /// The client's configurations, keyed by the handle of the value.
    private(set) var configurations: [UInt16: ClientConfiguration] = [:]
    /// The rules of configured values that require any security.
    private var rules: [UInt16: SubscriptionRule] = [:]
    /// The values for which the link is not secure enough yet.
    private var waiting: Set<UInt16> = []
    /// Values that the client has configured in this session.
    private var chosen: Set<UInt16> = []
    /// Values whose last configuration arrived in the clear, and may come from an impostor.
    private var chosenInTheClear: Set<UInt16> = []

    func served(_ handle: UInt16, over linkSecurity: LinkSecurity) -> ClientConfiguration {
        guard let choice = configurations[handle] else { return [] }
        guard let rule = rules[handle] else { return choice }
        return rule.served(choice, over: linkSecurity)
    }

    /// The security that the client's configuration of a value requires, if the link has too little of it to send the
    /// value.
    func lacking(toSend handle: UInt16, over linkSecurity: LinkSecurity) -> SecurityLevel? {
        guard let rule = rules[handle], let choice = configurations[handle] else { return nil }
        return rule.served(choice, over: linkSecurity).isEmpty ? rule.requirement(of: choice) : nil
    }

    func isChosen(_ handle: UInt16) -> Bool { chosen.contains(handle) }

    /// Records that the client configures a value itself, over an encrypted link if `isProven`. Returns whether this
    /// proves an earlier request in the clear.
    mutating func choose(_ handle: UInt16, isProven: Bool) -> Bool {
        chosen.insert(handle)
        guard isProven else {
            chosenInTheClear.insert(handle)
            return false
        }
        return chosenInTheClear.remove(handle) != nil
    }

    /// Replaces the configuration of a value. Returns what was served until now, and what is served from now on.
    mutating func configure(
        _ handle: UInt16,
        _ new: ClientConfiguration,
        _ rule: SubscriptionRule?,
        over linkSecurity: LinkSecurity
    ) -> (old: ClientConfiguration, served: ClientConfiguration) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let old = configurations.removeValue(forKey: handle) ?? []
        let reported = waiting.remove(handle) == nil ? old : []
        guard !new.isEmpty else { return (reported, []) }
        configurations[handle] = new
        rules[handle] = rule?.isOpen == false ? rule : nil
        if let rule = rules[handle], rule.served(new, over: linkSecurity).isEmpty { waiting.insert(handle) }
        return (reported, waiting.contains(handle) ? [] : new)
    }

    /// Removes the configurations of values in `handles`, which have changed. Rules have an effect only together with a
    /// configuration, so they need no cleanup.
    mutating func databaseChanged(_ handles: ClosedRange<UInt16>) {
        configurations = configurations.filter { !handles.contains($0.key) }
        waiting = waiting.filter { !handles.contains($0) }
        chosen = chosen.filter { !handles.contains($0) }
        chosenInTheClear = chosenInTheClear.filter { !handles.contains($0) }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        guard configurations.values.allSatisfy({ !$0.isEmpty }) else { return "an empty configuration is kept" }
        guard waiting.allSatisfy({ configurations[$0] != nil && rules[$0] != nil }) else {
            return "a value without a configuration waits for security"
        }
        return chosenInTheClear.isSubset(of: chosen) ? nil : "a value that was not chosen was chosen in the clear"
    }

    /// Removes all configurations, and returns those that were served, in the order of their handles.
    mutating func end() -> [(handle: UInt16, old: ClientConfiguration)] {
        let ended = configurations.filter { !waiting.contains($0.key) }.sorted { $0.key < $1.key }
        configurations = [:]
        waiting = []
        return ended.map { ($0.key, $0.value) }
    }

    /// Replaces the configurations that arrived in the clear by those of `kept`.
    func replaceUnproven(in record: inout ClientRecord, by kept: ClientRecord) {
        for handle in chosenInTheClear { record.configurations[handle] = kept.configurations[handle] }
    }
}

// MARK: - Configurations that wait for security

extension ClientSubscriptions {
    /// The values for which the link is not secure enough yet, in the order of their handles.
    var unserved: [UInt16] { waiting.sorted() }

    /// The security that all of them need.
    var neededSecurity: SecurityLevel {
        let needed = waiting.map { rules[$0]?.requirement(of: configurations[$0] ?? []) ?? .none }
        return needed.reduce(.none) { $0.joined(with: $1) }
    }

    /// Serves a value that waits if the link is secure enough now. Returns its configuration then.
    mutating func serve(_ handle: UInt16, over linkSecurity: LinkSecurity) -> ClientConfiguration? {
        guard let choice = configurations[handle], let rule = rules[handle] else { return nil }
        guard !rule.served(choice, over: linkSecurity).isEmpty else { return nil }
        waiting.remove(handle)
        return choice
    }
}
