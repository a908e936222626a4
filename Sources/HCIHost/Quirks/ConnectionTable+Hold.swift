import BluetoothTypes
import EventLoops
import HCI

/// Data that overtake the event that the link is encrypted.
extension ConnectionTable {
    /// Hands data to a connection, unless they have to wait.
    func hold(_ packet: ACLPacket, of connection: HCIConnection) {
        switch connection.hold.take(packet, at: loop.now) {
        case .deliver: deliver(packet, to: connection)
        case .held: armHoldTimer(connection)
        case .tooMany: giveUp(connection)
        }
    }

    /// Hands over what has waited: the outcome is known, and whoever wants to know has been told.
    func release(_ connection: HCIConnection) {
        stopHoldTimer(connection)
        for packet in connection.hold.end() { deliver(packet, to: connection) }
    }

    private func armHoldTimer(_ connection: HCIConnection) {
        guard connection.holdTimer == nil, let deadline = connection.hold.deadline else { return }
        connection.holdTimer = loop.schedule(at: deadline) { [weak self, weak connection] in
            guard let self, let connection else { return }
            connection.holdTimer = nil
            guard let old = connection.hold.expire(at: loop.now) else { return giveUp(connection) }
            for packet in old { deliver(packet, to: connection) }
            armHoldTimer(connection)
        }
    }

    private func stopHoldTimer(_ connection: HCIConnection) {
        if let timer = connection.holdTimer { loop.cancel(timer) }
        connection.holdTimer = nil
    }

    /// What the event had to prove is dropped, and with it the link.
    private func giveUp(_ connection: HCIConnection) {
        stopHoldTimer(connection)
        counters.unprovenLinks += 1
        _ = connection.hold.expire(at: loop.now)
        onUnproven?(connection)
    }
}
