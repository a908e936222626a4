import BluetoothTypes
import EventLoops
import HCI

/// Holding back data that arrives before the event that reports the encryption of its link.
extension ConnectionTable {
    /// Delivers a packet to its connection, unless it must wait for the event.
    func hold(_ packet: ACLPacket, of connection: HCIConnection) {
        switch connection.hold.take(packet, at: loop.now) {
        case .deliver: deliver(packet, to: connection)
        case .held: armHoldTimer(connection)
        case .tooMany: giveUp(connection)
        }
    }

    /// Delivers the packets that were held. Called after the callbacks for the outcome have run.
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

    /// Ends a link whose encryption was not confirmed, and drops the packets that were held.
    private func giveUp(_ connection: HCIConnection) {
        stopHoldTimer(connection)
        counters.unprovenLinks += 1
        _ = connection.hold.expire(at: loop.now)
        onUnproven?(connection)
    }
}
