import BluetoothTypes
import Foundation

extension BluetoothSystem {
    /// Alerts the user to an event of a peer, in place of suspended apps that asked for the alert. If there are
    /// several, the alert names the app that was in the foreground last (behaviour 3.15). Called before the apps are
    /// notified.
    func alert(_ alert: AppAlert, of peer: UUID) {
        let candidates = centrals.filter { $0.wants(alert, of: peer) }
        guard let last = candidates.max(by: { $0.lastInFront < $1.lastInFront }) else { return }
        let name = peers[peer]?.info.name?.quotedName
        tell(.alert(app: last.appName, peer: name ?? "\(peer)", alert))
    }
}

extension ConnectOptions {
    /// Whether the options ask for this alert.
    func wants(_ alert: AppAlert) -> Bool {
        switch alert {
        case .connected: notifiesOnConnection
        case .disconnected: notifiesOnDisconnection
        case .notified: notifiesOnNotification
        }
    }
}
