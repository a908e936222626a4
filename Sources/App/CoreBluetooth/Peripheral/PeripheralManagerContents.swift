import Foundation
import ServiceMessages

/// The state of a ``CBPeripheralManager``, kept in its mutex.
struct PeripheralManagerContents: @unchecked Sendable {
    // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
    weak var delegate: (any CBPeripheralManagerDelegate)?
    var published = PublishedServices()
    var updates = ValueUpdates()
    /// Whether the app asked last to start advertising, not to stop.
    private var wantsAdvertising = false
    private(set) var isAdvertising = false
    /// The observer of another module, which is notified in addition to the delegate.
    private(set) var observer: (any PeripheralManagerObserver)?
    private var centrals: [UUID: WeakCentral] = [:]

    private struct WeakCentral: Sendable {
        weak var central: CBCentral?
    }

    init(delegate: (any CBPeripheralManagerDelegate)?) {
        self.delegate = delegate
    }

    mutating func observer(orElse make: () -> any PeripheralManagerObserver) -> any PeripheralManagerObserver {
        let observer = self.observer ?? make()
        self.observer = observer
        return observer
    }

    /// Returns the object for a central. It is the same object as long as there is a reference to it.
    mutating func central(_ info: CentralInfo) -> CBCentral {
        if let central = centrals[info.identifier]?.central { return central }
        centrals = centrals.filter { $0.value.central != nil }
        let central = CBCentral(info)
        centrals[info.identifier] = WeakCentral(central: central)
        return central
    }

    // MARK: Advertising

    mutating func wantAdvertising() {
        wantsAdvertising = true
    }

    /// Records that the service advertises. `stopAdvertising()` may have been called meanwhile.
    mutating func advertisingStarted() {
        isAdvertising = wantsAdvertising
    }

    mutating func restoreAdvertising() {
        (wantsAdvertising, isAdvertising) = (true, true)
    }

    mutating func stopAdvertising() {
        (wantsAdvertising, isAdvertising) = (false, false)
    }

    // MARK: Without power

    /// Removes all subscribers, since the centrals are disconnected, and the updates on their way to them, which are
    /// lost (behaviour 1.13).
    ///
    /// - Returns: The subscriptions that have ended.
    mutating func removeSubscribers() -> [(central: CBCentral, characteristic: CBMutableCharacteristic)] {
        var left: [(central: CBCentral, characteristic: CBMutableCharacteristic)] = []
        for characteristic in published.allCharacteristics {
            left += (characteristic.subscribedCentrals ?? []).map { ($0, characteristic) }
            characteristic.removeSubscribers()
        }
        updates.removeAll()
        return left
    }

    mutating func removeAll() {
        published.removeAll()
        stopAdvertising()
    }
}

/// The updates of values that the service has accepted and not passed on, and the room for more.
struct ValueUpdates {
    /// The number of updates that the service accepts before it returns credits.
    private var credits = ServiceLimits.valueUpdates
    /// Whether an update was refused, so that the delegate has to be told when there is room.
    private var hasRefused = false
    /// Whether the delegate is told first when there is room, or the observer.
    private var isDelegatesTurn = false
    /// The oldest first. Nil stands for all subscribers.
    private var pending: [(characteristic: LocalAttributeID, centrals: [UUID]?)] = []

    var count: Int { pending.count }
    /// Whether an update was refused, and the callback that there is room is still to come.
    var isRoomAwaited: Bool { hasRefused }

    mutating func refuse() {
        hasRefused = true
    }

    /// Adds an update if there is room, and `claim` confirms that it is still wanted.
    ///
    /// - Parameter isRemembered: Whether to tell the delegate when there is room, if there is none now.
    mutating func add(
        _ characteristic: LocalAttributeID,
        to centrals: [UUID]?,
        isRemembered: Bool,
        claim: () -> Bool
    ) -> UpdateOutcome {
        guard credits > 0 else {
            if isRemembered { refuse() }
            return .full
        }
        guard claim() else { return .withdrawn }
        credits -= 1
        pending.append((characteristic, centrals))
        return .sent
    }

    /// Returns the number of updates that may go to a central.
    ///
    /// - Parameter isSubscribed: Whether the central is subscribed to a characteristic.
    func count(for central: UUID, _ isSubscribed: (LocalAttributeID) -> Bool) -> Int {
        pending.count { isSubscribed($0.characteristic) && $0.centrals?.contains(central) ?? true }
    }

    /// Adds the credits that the service returns for the oldest updates.
    ///
    /// - Returns: Whether to tell the delegate of room before the observer. They take turns, so that neither takes all
    ///   the credits.
    mutating func returnCredits(_ count: Int) -> Bool {
        let returned = min(max(count, 0), ServiceLimits.valueUpdates - credits)
        credits += returned
        pending.removeFirst(min(returned, pending.count))
        isDelegatesTurn.toggle()
        return isDelegatesTurn
    }

    /// Returns whether there is room that the delegate waits for, and no longer waits then.
    mutating func takeAwaitedRoom() -> Bool {
        guard hasRefused, credits > 0 else { return false }
        hasRefused = false
        return true
    }

    /// Drops all updates, after which there is room again.
    mutating func removeAll() {
        credits = ServiceLimits.valueUpdates
        pending = []
    }
}
