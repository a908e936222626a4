import BluetoothTypes
import GAP
import ServiceMessages

/// Shares the system's one advertisement among the managers that advertise (behaviour 7.30).
final class AdvertisingArbiter {
    private struct Entry {
        let manager: ManagerKey
        var content: AdvertisingContent
        var way: BackgroundRules.Advertising
        /// Reports to the manager that advertising has started; nil once it has.
        var onStarted: ((ServiceError?) -> Void)?

        var shown: AdvertisingContent {
            var content = content
            content.isHidden = way == .hidden
            return content
        }
    }

    private var entries: [Entry] = []
    /// Applies a new plan; nil stops advertising.
    var onChange: ((AdvertisingPlan?) -> Void)?

    func contains(_ manager: ManagerKey) -> Bool {
        entries.contains { $0.manager == manager }
    }

    /// Adds the advertisement of a manager. `onStarted` is called once. Data that do not fit beside those of other
    /// managers are refused, and none of `content` is advertised.
    func add(
        _ content: AdvertisingContent,
        for manager: ManagerKey,
        _ way: BackgroundRules.Advertising = .whole,
        onStarted: @escaping (ServiceError?) -> Void
    ) {
        guard AdvertisingPlanner.plan(for: entries.map(\.content) + [content]).leftOut.isEmpty else {
            let others = entries.map { AdvertisingContent(data: $0.content.data) }
            return onStarted(ServiceError(content.data, noRoomIn: AdvertisingPlanner.plan(for: others)))
        }
        entries.append(Entry(manager: manager, content: content, way: way, onStarted: onStarted))
        apply()
    }

    /// Changes how a manager advertises, when its app moves to the foreground or background (behaviour 7.24).
    func advertise(_ way: BackgroundRules.Advertising, for manager: ManagerKey) {
        guard let index = entries.firstIndex(where: { $0.manager == manager }), entries[index].way != way else {
            return
        }
        entries[index].way = way
        apply()
    }

    /// Stops the advertising of a manager. If its start has not been reported yet, it is reported as cancelled.
    func remove(_ manager: ManagerKey) {
        guard let index = entries.firstIndex(where: { $0.manager == manager }) else { return }
        let entry = entries.remove(at: index)
        entry.onStarted?(ServiceError(.operationCancelled, reason: "advertising was stopped before it started"))
        apply()
    }

    /// Requests the current plan, for instance after a controller has come back (behaviour 1.14).
    func apply() {
        let shown = entries.filter { $0.way != .none }
        onChange?(shown.isEmpty ? nil : AdvertisingPlanner.plan(for: shown.map(\.shown)))
    }

    func started() {
        let waiting = entries.compactMap(\.onStarted)
        for index in entries.indices { entries[index].onStarted = nil }
        for report in waiting { report(nil) }
    }

    func failed(_ error: GAPError) {
        let waiting = entries.compactMap(\.onStarted)
        entries.removeAll()
        for report in waiting { report(ServiceError(.unknown, reason: "advertising failed: \(error)")) }
    }
}

extension ServiceError {
    /// The error for data that do not fit beside those advertised already.
    fileprivate init(_ data: [AdvertisingStructure], noRoomIn plan: AdvertisingPlan) {
        let needed = data.map { String($0.encodedLength) }.joined(separator: " + ")
        self.init(
            .outOfSpace,
            reason: "the data take \(needed) octets with their headers and do not fit; \(plan.room) are free in the "
                + "advertisement and \(plan.roomBehind) in the scan response"
        )
    }
}
