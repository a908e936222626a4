import HCI

/// How much connection data the host has room for, once it has asked to be asked (Core Vol 4 Part E 4.1.2).
///
/// The data of a PDU without room stay on the air: the PDU is not acknowledged and comes again (Vol 6 Part B 4.5.9), so
/// that nothing piles up here (AB-L09).
struct HostFlow {
    /// Whether the host tells what it has done with. Otherwise it has room for all that comes.
    var isEnabled = false
    /// The longest data of a packet, in octets.
    private(set) var length = Int(DataLength.maximumOctets)
    /// Packets that the host has room for, of all links together.
    private(set) var count = Int(UInt16.max)
    /// Packets that the host has and has not done with.
    private var outstanding: [ConnectionHandle: Int] = [:]
    private var total = 0

    /// Host Buffer Size. False when nothing could ever be sent.
    mutating func resize(length: UInt16, count: UInt16) -> Bool {
        guard length > 0, count > 0 else { return false }
        (self.length, self.count) = (Int(length), Int(count))
        return true
    }

    /// Octets that the next packet may have; nil for no packet.
    var room: Int? {
        guard isEnabled else { return .max }
        return total < count ? length : nil
    }

    /// A packet goes to the host.
    mutating func sent(_ handle: ConnectionHandle) {
        guard isEnabled else { return }
        outstanding[handle, default: 0] += 1
        total += 1
    }

    /// The host has done with packets. False, and nothing has changed, when it cannot have had so many.
    mutating func returned(_ entries: [CompletedPackets]) -> Bool {
        var left = outstanding
        for entry in entries {
            // A link that has gone has taken its packets along.
            guard let had = left[entry.handle] else { continue }
            guard Int(entry.count) <= had else { return false }
            left[entry.handle] = had - Int(entry.count)
        }
        outstanding = left
        total = left.values.reduce(0, +)
        return true
    }

    /// A link has begun. Nothing of it is at the host.
    mutating func opened(_ handle: ConnectionHandle) {
        if isEnabled { outstanding[handle] = 0 }
    }

    /// A link is gone, and its packets count as done with.
    mutating func closed(_ handle: ConnectionHandle) {
        total -= outstanding.removeValue(forKey: handle) ?? 0
    }
}
