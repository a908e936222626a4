import AssignedNumbers
import BluetoothTypes
import ServiceEvents
import ServiceMessages

/// The causes of failures that the messages of one manager show.
struct ManagerHints {
    /// The time after which a manager without a state, or a request without a response, is worth a hint.
    static let responseTimeout = Duration.seconds(2)

    let role: ManagerRole
    private let opened: Duration
    /// The place where the app created the manager.
    var site: CallSite?
    /// The time at which the app released the manager too early, and before what.
    private var closed: (time: Duration, before: String)?
    private var isOpen = true
    private var isUsed = false
    /// Whether the manager was restored, and the app has made no request of it since.
    private var isRestored = false
    private var state: (ManagerState, since: Duration)?
    var central = CentralHints()
    private var peripheral = PeripheralHints()

    init(role: ManagerRole = .central, opened: Duration = .zero) {
        (self.role, self.opened) = (role, opened)
    }

    mutating func close(isByApp: Bool, at time: Duration) {
        let before = isUsed ? "used what was restored" : state == nil ? "received its state" : "made a request"
        if isByApp, !isUsed || isRestored { closed = (time, before) }
        (isOpen, central, peripheral) = (false, CentralHints(), PeripheralHints())
    }

    /// Takes back that the app released its manager, when the end of its process did.
    mutating func endProcess(at time: Duration) {
        if closed?.time == time { closed = nil }
        (isOpen, central, peripheral) = (false, CentralHints(), PeripheralHints())
    }

    mutating func add(_ request: Request, _ observation: Observation, at time: Duration) {
        (isUsed, isRestored) = (true, false)
        switch request {
        case .central(let request): central.add(request, observation, at: time)
        case .peripheral(let request): peripheral.add(request)
        case .channel, .setup, .activity: break
        }
    }

    mutating func add(_ event: Event, _ observation: Observation, at time: Duration) {
        switch event {
        case .stateChanged(let state): self.state = (state, time)
        case .central(let event):
            if case .willRestore = event { isRestored = true }
            central.add(event, at: time)
        case .peripheral(let event):
            if case .willRestore = event { isRestored = true }
            peripheral.add(event, observation, at: time)
        case .channel, .setup, .activity: break
        }
    }

    func hints(_ context: HintContext) -> [WorldHint] {
        guard role.isOfBluetooth else { return [] }
        let type = role == .central ? "CBCentralManager" : "CBPeripheralManager"
        if let closed {
            return [
                WorldHint(
                    rank: .released,
                    text:
                        "\(context.owner.text) released its \(type) at \(WorldWords.time(closed.time)), before it "
                        + "\(closed.before): keep the manager in a property",
                    site: site
                )
            ]
        }
        guard isOpen else { return [] }
        let own = stateText(type, context).map { [WorldHint(rank: .state, text: $0, site: site)] } ?? []
        return own + central.hints(context) + peripheral.hints(context)
    }

    private func stateText(_ type: String, _ context: HintContext) -> String? {
        let change = context.surroundings.lastChange(of: context.owner.device)
        guard let (state, since) = state else {
            guard context.now - opened >= Self.responseTimeout else { return nil }
            return
                "\(context.owner.text) has waited for the state of its \(type) since \(WorldWords.time(opened)): the user "
                + "has not answered whether the app may use Bluetooth, or the controller does not start\(change)"
        }
        guard state != .poweredOn else { return nil }
        let reason = state == .unauthorized ? "the app may not use Bluetooth" : "the app has to wait for poweredOn"
        return
            "\(context.owner.text) has a \(type) that is \(state.name) since \(WorldWords.time(since)): \(reason)\(change)"
    }
}

/// The causes of failures that the messages of a peripheral manager show.
struct PeripheralHints {
    /// The requests of centrals that the app has not responded to.
    private var unanswered: [(transaction: UInt64, observation: Observation, since: Duration)] = []
    private var advertising: AdvertisingRequest?

    mutating func add(_ request: PeripheralRequest) {
        switch request {
        case .respond(let transaction, _, value: _): unanswered.removeAll { $0.transaction == transaction }
        case .startAdvertising(let request): advertising = request
        case .stopAdvertising: advertising = nil
        default: break
        }
    }

    mutating func add(_ event: PeripheralEvent, _ observation: Observation, at time: Duration) {
        switch event {
        case .readRequested(let transaction, _, _, offset: _),
            .writeRequested(let transaction, _, _, needsResponse: true):
            guard unanswered.count < WorldHints.maximumRequests else { return }
            unanswered.append((transaction, observation, time))
        default: break
        }
    }

    func hints(_ context: HintContext) -> [WorldHint] {
        [
            overdue(context).map { WorldHint(rank: .unanswered, text: $0) },
            unfit(context).map { WorldHint(rank: .unfit, text: $0) },
        ]
        .compactMap(\.self)
    }

    private func overdue(_ context: HintContext) -> String? {
        guard let first = unanswered.first, context.now - first.since >= ManagerHints.responseTimeout else {
            return nil
        }
        let others = unanswered.count > 1 ? ", and to \(unanswered.count - 1) later ones" : ""
        return
            "\(context.owner.text) has not responded to a request since \(WorldWords.time(first.since))\(others): call "
            + "respond(to:withResult:) for each; it is \(context.words.message(first.observation, of: context.owner.device))"
    }

    /// What of the advertisement other devices do not receive (behaviours 7.21, 7.22).
    private func unfit(_ context: HintContext) -> String? {
        guard let advertising else { return nil }
        let content = AdvertisingContent(localName: advertising.localName, services: advertising.services)
        let plan = AdvertisingPlanner.plan(for: [content])
        var parts: [String] = []
        if let name = plan.shortenedName { parts.append("its name is cut to \"\(name)\"") }
        if !plan.overflow.isEmpty {
            parts.append(
                "\(AssignedNumbers.titles(of: plan.overflow)) moved to the overflow area, where only a scan of an Apple "
                    + "device that names the service finds it"
            )
        }
        guard !parts.isEmpty else { return nil }
        return "\(context.owner.text) advertises more than the 28 + 10 octets that an app has: "
            + parts.joined(separator: ", and ")
    }
}

extension AssignedNumbers {
    /// Returns the names and numbers of some services or characteristics.
    static func titles(of uuids: [BluetoothUUID]) -> String {
        let more = uuids.count > 8 ? " and \(uuids.count - 8) more" : ""
        return uuids.prefix(8).map { title(of: $0) }.joined(separator: ", ") + more
    }
}
