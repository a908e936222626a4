import DequeModule

/// A cache of resolution results, so that an advertiser costs AES operations once instead of with each PDU. When full,
/// it evicts the oldest entry.
struct AddressCache<Finding> {
    /// The capacity in addresses: more than the number of devices in a crowded place.
    static var maximum: Int { 2_048 }

    private var known: [UInt64: Finding] = [:]
    private var order = Deque<UInt64>()

    /// The number of cached addresses.
    var count: Int { max(known.count, order.count) }

    /// Returns the cached result for an address, if any.
    func finding(for address: UInt64) -> Finding? { known[address] }

    /// Caches the result for an address.
    mutating func remember(_ finding: Finding, for address: UInt64) {
        if known.updateValue(finding, forKey: address) == nil { order.append(address) }
        if order.count > Self.maximum, let oldest = order.popFirst() { known[oldest] = nil }
    }

    mutating func clear() {
        known.removeAll()
        order.removeAll()
    }
}
