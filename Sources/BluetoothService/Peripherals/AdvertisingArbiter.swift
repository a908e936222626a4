import BluetoothTypes
import GAP

/// Shares the one advertisement of this system among the managers that want to advertise (behaviour 7.30).
final class AdvertisingArbiter {
    private struct Wish {
        let manager: ManagerKey
        var content: AdvertisingContent
        var way: BackgroundRules.Advertising
        /// Tells the manager that it has begun; nil once told.
        var onStarted: ((ServiceError?) -> Void)?

        /// What others see of it.
        var shown: AdvertisingContent {
            var content = content
            content.isHidden = way == .hidden
            return content
        }
    }

    private var wishes: [Wish] = []
    /// Puts another plan on the air; nil for none.
    var onChange: ((AdvertisingPlan?) -> Void)?

    /// Whether a manager advertises, or is about to.
    func contains(_ manager: ManagerKey) -> Bool {
        wishes.contains { $0.manager == manager }
    }

    /// Adds what a manager wants to advertise. `onStarted` is called once. Data that do not fit beside those of others are refused,
    /// and nothing of it is advertised.
    func add(
        _ content: AdvertisingContent,
        for manager: ManagerKey,
        _ way: BackgroundRules.Advertising = .whole,
        onStarted: @escaping (ServiceError?) -> Void
    ) {
        guard AdvertisingPlanner.plan(for: wishes.map(\.content) + [content]).leftOut.isEmpty else {
            let others = wishes.map { AdvertisingContent(data: $0.content.data) }
            return onStarted(ServiceError(content.data, noRoomIn: AdvertisingPlanner.plan(for: others)))
        }
        wishes.append(Wish(manager: manager, content: content, way: way, onStarted: onStarted))
        apply()
    }

    /// The app of a manager is somewhere else in its life (behaviour 7.24).
    func advertise(_ way: BackgroundRules.Advertising, for manager: ManagerKey) {
        guard let index = wishes.firstIndex(where: { $0.manager == manager }), wishes[index].way != way else { return }
        wishes[index].way = way
        apply()
    }

    /// Ends the advertising of a manager. One whose start has not been told of is told that it was cancelled.
    func remove(_ manager: ManagerKey) {
        guard let index = wishes.firstIndex(where: { $0.manager == manager }) else { return }
        let wish = wishes.remove(at: index)
        wish.onStarted?(ServiceError(.operationCancelled, reason: "advertising was stopped before it began"))
        apply()
    }

    /// Asks for what is wanted, for instance of a controller that has come back (behaviour 1.14).
    func apply() {
        let shown = wishes.filter { $0.way != .none }
        onChange?(shown.isEmpty ? nil : AdvertisingPlanner.plan(for: shown.map(\.shown)))
    }

    /// What was asked for is on the air.
    func started() {
        let waiting = wishes.compactMap(\.onStarted)
        for index in wishes.indices { wishes[index].onStarted = nil }
        for tell in waiting { tell(nil) }
    }

    /// What was asked for cannot be on the air.
    func failed(_ error: GAPError) {
        let waiting = wishes.compactMap(\.onStarted)
        wishes.removeAll()
        for tell in waiting { tell(ServiceError(.unknown, reason: "cannot advertise: \(error)")) }
    }
}

extension ServiceError {
    /// Data do not fit beside what is advertised already.
    fileprivate init(_ data: [AdvertisingStructure], noRoomIn plan: AdvertisingPlan) {
        let needed = data.map { String($0.encodedLength) }.joined(separator: " + ")
        self.init(
            .outOfSpace,
            reason: "data of \(needed) octets with their headers do not fit in \(plan.room) of the advertisement and "
                + "\(plan.roomBehind) of the scan response"
        )
    }
}
