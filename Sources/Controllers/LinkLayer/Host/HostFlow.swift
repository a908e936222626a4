import HCI

/// The host's free buffers for connection data, if it has enabled controller-to-host flow control (Core Vol 4 Part E
/// 4.1.2).
///
/// A data PDU for which the host has no buffer is not acknowledged, so the peer retransmits it (Vol 6 Part B 4.5.9) and
/// nothing accumulates in the controller (AB-L09).
struct HostFlow {
    /// Whether flow control is enabled. If not, the host is assumed to accept everything.
    private(set) var isEnabled = false
    /// The longest data of an ACL packet, in octets.
    private(set) var length = Int(DataLength.maximumOctets)
    /// The number of packets that the host can buffer, for all links together.
    private(set) var count = Int(UInt16.max)
    /// Packets passed to the host that it has not completed.
    private var outstanding: [ConnectionHandle: Int] = [:]
    private var total = 0

    /// Applies Set Controller To Host Flow Control.
    mutating func enable(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Applies Host Buffer Size. Returns false if the buffers could never hold a packet.
    mutating func resize(length: UInt16, count: UInt16) -> Bool {
        guard length > 0, count > 0 else { return false }
        (self.length, self.count) = (Int(length), Int(count))
        return true
    }

    /// The maximum data length of the next packet, in octets; nil if no buffer is free.
    var room: Int? {
        guard isEnabled else { return .max }
        return total < count ? length : nil
    }

    /// Counts a packet passed to the host.
    mutating func sent(_ handle: ConnectionHandle) {
        guard isEnabled else { return }
        outstanding[handle, default: 0] += 1
        total += 1
    }

    /// Counts packets that the host has completed. Returns false, without changing anything, if the host cannot have
    /// had that many.
    mutating func returned(_ entries: [CompletedPackets]) -> Bool {
        var left = outstanding
        for entry in entries {
            // The packets of a closed link count as completed already.
            guard let had = left[entry.handle] else { continue }
            guard Int(entry.count) <= had else { return false }
            left[entry.handle] = had - Int(entry.count)
        }
        outstanding = left
        total = left.values.reduce(0, +)
        return true
    }

    /// The first rule that is broken while there are links with these handles; nil if all hold.
    func brokenInvariant(with handles: Set<ConnectionHandle>) -> String? {
        guard total == outstanding.values.reduce(0, +) else { return "the packets at the host do not add up" }
        return outstanding.keys.allSatisfy(handles.contains) ? nil : "the host owes packets of a link that has ended"
    }

    /// Starts counting for a new link.
    mutating func opened(_ handle: ConnectionHandle) {
        if isEnabled { outstanding[handle] = 0 }
    }

    /// Removes a closed link. Its packets count as completed.
    mutating func closed(_ handle: ConnectionHandle) {
        total -= outstanding.removeValue(forKey: handle) ?? 0
    }
}
