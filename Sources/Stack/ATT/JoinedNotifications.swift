import BluetoothTypes

/// Notified values being batched into one PDU (Core Vol 3 Part F 3.4.7.4).
struct JoinedNotifications {
    private var entries: [ATTMultipleHandleValueNotification.Entry] = []
    private var octets = 1
    // The PDUs that were queued before the batch and must be sent before it.
    private var ahead = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Whether the PDUs queued before the batch have been sent.
    var isDue: Bool { !isEmpty && ahead <= 0 }

    /// Whether the value fits into the batch as a whole. Batched values must not be truncated.
    func fits(_ value: PacketBuffer, mtu: Int) -> Bool { octets + 4 + value.count <= mtu }

    /// Adds a value. For the first value, `waiting` is the number of PDUs queued ahead of the batch.
    mutating func add(_ value: PacketBuffer, of handle: UInt16, behind waiting: Int) {
        if isEmpty { ahead = waiting }
        octets += 4 + value.count
        entries.append(.init(handle: handle, value: value))
    }

    /// Records that the controller has accepted a PDU.
    mutating func pduLeft() {
        ahead -= 1
    }

    /// Encodes and removes the batched values. A single value becomes an ordinary notification.
    mutating func take() -> PacketBuffer? {
        defer { self = JoinedNotifications() }
        guard let first = entries.first else { return nil }
        if entries.count == 1 { return ATTPDU.frame(.handleValueNotification, first.handle, first.value) }
        var packet = ATTMultipleHandleValueNotification()
        packet.entries = entries
        return packet.framed(capacity: octets)
    }
}
