import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// An app in the peripheral role: publishes, advertises, responds, and counts its credits.
final class WorldPeripheral {
    let name: WorldName
    private(set) var manager: TestManager
    private(set) var isOn = false
    /// Nil before the request, and false until it is confirmed.
    private(set) var isPublished: Bool?
    private(set) var isAdvertising: Bool?
    private(set) var room = ServiceLimits.valueUpdates
    private(set) var subscribers: Set<UUID> = []
    /// When the pending request was made.
    private var askedAt: Instant?
    private var lastAttempt: Instant?
    /// The number of requests received so far; the app refuses some of them.
    private var questions = 0
    var witness = StateWitness()
    /// The first event to expect; removed when it arrives.
    var expected: RestorationModel.Kept?
    private(set) var hasBegun = false
    private unowned let world: RandomWorld

    init(_ app: WorldShape.App, _ manager: TestManager, in world: RandomWorld) {
        name = app.name
        self.manager = manager
        self.world = world
    }

    private func fault(_ text: String) { world.fault("\(name) as peripheral: \(text)") }

    private func send(_ request: PeripheralRequest) { manager.send(.peripheral(request)) }

    /// The service has ended, and a new one is running.
    func reopened(_ manager: TestManager) {
        react(.stateChanged(.resetting), isOfLine: true)
        self.manager = manager
        expected = nil
        hasBegun = false
    }

    func react(_ event: Event, isOfLine: Bool = false) {
        if !isOfLine, !hasBegun { begin(with: event) }
        switch event {
        case .stateChanged(let state): stateChanged(state, isOfLine)
        case .peripheral(let event): react(event)
        case .central, .channel, .setup, .activity: fault("nobody asked for \(event)")
        }
    }

    private func begin(with event: Event) {
        hasBegun = true
        if let wrong = expected?.fault(in: event) { fault(wrong) }
        if case .peripheral(.willRestore) = event {
            if expected == nil { fault("restored although nothing was kept") }
        } else if case .stateChanged = event {
        } else {
            fault("began with \(event)")
        }
        expected = nil
    }

    private func stateChanged(_ state: ManagerState, _ isOfLine: Bool) {
        if isOfLine { witness.lineIsLost() } else if let wrong = witness.note(state) { fault(wrong) }
        isOn = state == .poweredOn
        guard !isOn else { return }
        room = ServiceLimits.valueUpdates
        subscribers = []
        // Requests without a response so far are lost (behaviour 1.6).
        if isPublished == false { isPublished = nil }
        if isAdvertising == false { isAdvertising = nil }
        // Behaviour 1.13.
        if state.rawValue < ManagerState.poweredOff.rawValue { (isPublished, isAdvertising) = (nil, nil) }
    }

    private func react(_ event: PeripheralEvent) {
        switch event {
        case .willRestore(let state):
            isPublished = state.services.isEmpty ? nil : true
            isAdvertising = state.advertising == nil ? nil : true
            subscribers = Set(state.subscriptions.map(\.central.identifier))
        case .serviceAdded(let id, let error):
            if isPublished != false || id != WorldName.serviceID || error != nil { fault("\(event)") }
            isPublished = error == nil ? true : nil
        case .advertisingStarted(let error, _):
            if isAdvertising != false { fault("\(event)") }
            isAdvertising = error == nil ? true : nil
        case .subscribed(let central, let id):
            let isNew = subscribers.insert(central.identifier).inserted
            if !isNew || id != WorldName.measurementID { fault("subscribed twice, or to something else") }
        case .unsubscribed(let central, let id):
            let isOld = subscribers.remove(central.identifier) != nil
            if !isOld || id != WorldName.measurementID { fault("unsubscribed who was not, or from something else") }
        case .readRequested(let transaction, _, let id, _):
            if id != WorldName.readingID { fault("asked for \(id)") }
            let status = verdict(ATTStatus(rawValue: 0x02))
            let value = status == .success ? PacketBuffer(name.signature + [0xEE]) : nil
            send(.respond(transaction: transaction, status, value: value))
        case .writeRequested(let transaction, _, let writes, _):
            let isMine = writes.allSatisfy {
                $0.characteristic == WorldName.noteID && Array($0.value.prefix(2)) == name.signature
            }
            if !isMine { fault("was written what is for another") }
            send(.respond(transaction: transaction, verdict(ATTStatus(rawValue: 0x03)), value: nil))
        case .updateCreditsReturned(let count):
            room += count
            if room > ServiceLimits.valueUpdates { fault("has room for \(room)") }
        case .centralChanged: break
        default: fault("nobody asked for \(event)")
        }
        if isPublished != false, isAdvertising != false { askedAt = nil }
    }

    /// Refuses every third request.
    private func verdict(_ refusal: ATTStatus) -> ATTStatus {
        questions += 1
        return questions.isMultiple(of: 3) ? refusal : .success
    }

    // MARK: Activity

    /// Publishes, and advertises where it may start to (behaviour 7.25).
    func goOn(inFront: Bool) {
        guard isOn else { return }
        if isPublished == nil {
            isPublished = false
            askedAt = world.now
            send(.addService(name.localService))
        }
        let mayTry = lastAttempt.map { world.now - $0 > .seconds(1) } ?? true
        guard inFront, mayTry, isPublished == true, isAdvertising == nil else { return }
        isAdvertising = false
        (askedAt, lastAttempt) = (world.now, world.now)
        send(.startAdvertising(name.advertising))
    }

    /// Whether it has power, a published service and credits.
    var canMeasure: Bool { isOn && isPublished == true && room > 0 }

    func measure(_ number: Int) {
        room -= 1
        let value = PacketBuffer(name.signature + [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)])
        send(.updateValue(WorldName.measurementID, value: value, centrals: nil))
    }

    // MARK: Observable state

    /// The state to preserve.
    var kept: (manager: RestorationModel.Manager, isQuiet: Bool) {
        let subscribers = subscribers.map {
            RestoredSubscription(
                central: CentralInfo(identifier: $0, maximumUpdateLength: 0),
                characteristic: WorldName.measurementID
            )
        }
        let manager = RestorationModel.Manager.peripheral(
            services: isPublished == nil ? [] : [name.localService],
            subscribers: Set(subscribers),
            advertising: isAdvertising == nil ? nil : name.advertising
        )
        return (manager, askedAt == nil)
    }

    /// Whether a request was made at this very instant: it may or may not reach the service before the process ends.
    var asksNow: Bool { askedAt == world.now }

    func overdue(awake: Instant) -> [String] {
        guard let askedAt, isPublished == false || isAdvertising == false else { return [] }
        return world.now - max(askedAt, awake) > OpenRequests.timeout ? ["publishing was never answered"] : []
    }

    var isSettled: Bool { isOn && isPublished == true && isAdvertising == true && room == ServiceLimits.valueUpdates }
}
