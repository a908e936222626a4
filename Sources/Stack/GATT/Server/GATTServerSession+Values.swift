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
        subscriptions.served(handle, over: linkSecurity)
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
}
