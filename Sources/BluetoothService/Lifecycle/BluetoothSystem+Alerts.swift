import BluetoothTypes
import Foundation

extension BluetoothSystem {
    /// Tells the person what came, in place of apps that do not run and asked for that: of several the one that was last in
    /// front of the person (behaviour 3.15). Before the apps are told.
    func alert(_ alert: AppAlert, of peer: UUID) {
        let candidates = centrals.filter { $0.wants(alert, of: peer) }
        guard let last = candidates.max(by: { $0.lastInFront < $1.lastInFront }) else { return }
        let name = peers[peer]?.info.name?.quotedName
        tell(.alert(app: last.appName, peer: name ?? "\(peer)", alert))
    }
}

extension ConnectOptions {
    /// Whether the person shall hear of it.
    func wants(_ alert: AppAlert) -> Bool {
        switch alert {
        case .connected: notifiesOnConnection
        case .disconnected: notifiesOnDisconnection
        case .notified: notifiesOnNotification
        }
    }
}
