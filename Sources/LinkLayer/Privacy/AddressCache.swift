import DequeModule

/// Remembers what private addresses were found to be, so that a device that advertises costs its AES operations once and
/// not with each PDU. When it is full the oldest is forgotten, and looked for again.
struct AddressCache<Finding> {
    /// Addresses remembered at most: more than there are devices in a crowded place.
    static var maximum: Int { 2_048 }

    private var known: [UInt64: Finding] = [:]
    private var order = Deque<UInt64>()

    /// Addresses that are remembered.
    var count: Int { max(known.count, order.count) }

    /// What is known of an address, if anything is.
    func finding(for address: UInt64) -> Finding? { known[address] }

    /// Remembers what an address is.
    mutating func remember(_ finding: Finding, for address: UInt64) {
        if known.updateValue(finding, forKey: address) == nil { order.append(address) }
        if order.count > Self.maximum, let oldest = order.popFirst() { known[oldest] = nil }
    }

    mutating func clear() {
        known.removeAll()
        order.removeAll()
    }
}
