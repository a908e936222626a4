import BluetoothTypes

/// Notified values on their way into one PDU (Core Vol 3 Part F 3.4.7.4).
struct JoinedNotifications {
    private var entries: [ATTMultipleHandleValueNotification.Entry] = []
    private var octets = 1
    // PDUs that were there first, and are to go first.
    private var ahead = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Whether those that were there first have gone.
    var isDue: Bool { !isEmpty && ahead <= 0 }

    /// Whether a value fits whole beside those that are there; none may be cut.
    func fits(_ value: PacketBuffer, mtu: Int) -> Bool { octets + 4 + value.count <= mtu }

    /// Adds a value. The first one learns how many PDUs there are before it.
    mutating func add(_ value: PacketBuffer, of handle: UInt16, behind waiting: Int) {
        if isEmpty { ahead = waiting }
        octets += 4 + value.count
        entries.append(.init(handle: handle, value: value))
    }

    /// A PDU has gone.
    mutating func pduLeft() {
        ahead -= 1
    }

    /// The values in one PDU; a single one in the PDU that is made for it. Nothing is left.
    mutating func take() -> PacketBuffer? {
        defer { self = JoinedNotifications() }
        guard let first = entries.first else { return nil }
        if entries.count == 1 { return ATTPDU.frame(.handleValueNotification, first.handle, first.value) }
        var packet = ATTMultipleHandleValueNotification()
        packet.entries = entries
        return packet.framed(capacity: octets)
    }
}
