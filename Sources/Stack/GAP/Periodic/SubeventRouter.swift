import HCI
import HCIHost

/// Routes controller events for trains with responses to their broadcasters.
final class SubeventRouter {
    /// The maximum number of trains: the number of advertising handles (Core Vol 4 Part E 7.8.53).
    static let maximumTrains = 240

    private struct Entry {
        weak var broadcaster: PeriodicBroadcaster?
    }

    private var entries: [UInt8: Entry] = [:]

    init(_ host: HCIHost) {
        host.onEvent(LEPeriodicAdvertisingSubeventDataRequest.self) { [weak self] event in
            self?.entries[event.set]?.broadcaster?.wanted(event)
        }
        host.onEvent(LEPeriodicAdvertisingResponseReport.self) { [weak self] event in
            self?.entries[event.set]?.broadcaster?.reported(event)
        }
    }

    /// Routes the events of the given set to a broadcaster.
    func add(_ broadcaster: PeriodicBroadcaster, set: UInt8) {
        entries = entries.filter { $0.value.broadcaster != nil }
        guard entries.count < Self.maximumTrains || entries[set] != nil else { return }
        entries[set] = Entry(broadcaster: broadcaster)
    }

    /// Stops routing the events of the given set.
    func remove(set: UInt8) {
        entries[set] = nil
    }

    /// Called when a connection from the train of the given set has failed.
    func connectionFailed(_ set: UInt8, _ status: HCIStatus) {
        entries[set]?.broadcaster?.connectionEnded(.failure(.rejected(status)))
    }

    /// Called when the controller is gone, and all trains with it.
    func reset() {
        let ended = entries.values.compactMap(\.broadcaster)
        entries = [:]
        for broadcaster in ended { broadcaster.connectionEnded(.failure(.notReady)) }
    }
}
