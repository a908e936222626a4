import HCI
import HCIHost

/// Brings what the controller says of trains with responses to those whose trains they are.
final class SubeventRouter {
    /// Trains with responses at most: as many as there are numbers of advertising sets (Core Vol 4 Part E 7.8.53).
    static let maximumTrains = 240

    private struct Entry {
        weak var broadcaster: PeriodicBroadcaster?
    }

    private var entries: [UInt8: Entry] = [:]

    init(_ access: GenericAccess) {
        access.host.onEvent(LEPeriodicAdvertisingSubeventDataRequest.self) { [weak self] event in
            self?.entries[event.set]?.broadcaster?.wanted(event)
        }
        access.host.onEvent(LEPeriodicAdvertisingResponseReport.self) { [weak self] event in
            self?.entries[event.set]?.broadcaster?.reported(event)
        }
    }

    /// Tells a broadcaster of the train of a set from now on.
    func add(_ broadcaster: PeriodicBroadcaster, set: UInt8) {
        entries = entries.filter { $0.value.broadcaster != nil }
        guard entries.count < Self.maximumTrains || entries[set] != nil else { return }
        entries[set] = Entry(broadcaster: broadcaster)
    }

    /// Tells nobody of the train of a set any more.
    func remove(set: UInt8) {
        entries[set] = nil
    }

    /// No connection has come out of the train of a set.
    func connectionFailed(_ set: UInt8, _ status: HCIStatus) {
        entries[set]?.broadcaster?.connectionEnded(.failure(.rejected(status)))
    }

    /// The controller is gone, and all trains with it.
    func reset() {
        let ended = entries.values.compactMap(\.broadcaster)
        entries = [:]
        for broadcaster in ended { broadcaster.connectionEnded(.failure(.notReady)) }
    }
}
