import ATT
import BluetoothService
import BluetoothTypes
import EventLoops
import GAP
import GATT
import HCI

/// Finds a peripheral, prints its whole attribute table with values, follows one value and disconnects.
///
/// Uses an open scan and an open link rather than Core Bluetooth, which hides handles and some services. Lives on the
/// loop of its system.
final class Explorer {
    struct Plan: Sendable {
        var selector: DeviceSelector
        var controller: String
        var timeout: Double
        /// Whether to encrypt the link before anything else.
        var pairs = false
        /// Whether to print own out-of-band data for the peer.
        var sharesOutOfBand = false
        /// Whether to open enhanced bearers and read all values again over them.
        var wantsBearers = false
        var visit = Visit.Plan()
    }

    private enum Stage {
        case starting
        case searching(DeviceChoice<Sighting>)
        case connecting
        case securing
        case exploring
        case visiting
        case leaving
        case ended

        var doing: String {
            switch self {
            case .starting, .searching, .ended: "searching"
            case .connecting: "connecting"
            case .securing: "securing the link"
            case .exploring: "exploring its services"
            case .visiting: "using its services"
            case .leaving: "disconnecting"
            }
        }
    }

    /// The maximum number of connection attempts if the peer misses the request.
    private static let maximumAttempts = 10
    /// How long to wait for pending packets to reach the peer before disconnecting.
    private static let lastWords = Duration.milliseconds(100)

    let plan: Plan
    private let system: BluetoothSystem
    private let loop: any EventLoop
    private let finish: (Result<Void, ToolError>) -> Void
    let report: ToolReport
    private var stage = Stage.starting
    private var peer = BluetoothAddress.none
    /// The peer for display, once it is found.
    private var found: DeviceCandidate?
    private var attempts = 0
    private(set) var link: AccessLink?
    var lastRefusal: String?
    private var walk: TableWalk?
    private var atOnce: BearersAtOnce?
    private var visit: Visit?

    init(
        _ plan: Plan,
        in system: BluetoothSystem,
        _ report: ToolReport,
        _ finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.plan = plan
        self.system = system
        self.report = report
        self.finish = finish
        loop = system.loop
    }

    func start() {
        system.begin(
            OpenScan(
                .attentive,
                onStart: { [weak self] in self?.search() },
                onSighting: { [weak self] in self?.receive($0) },
                onEnd: { [weak self] in self?.failed($0, doing: "scan") }
            )
        )
    }

    var isSecuring: Bool {
        if case .securing = stage { true } else { false }
    }

    func end(_ result: Result<Void, ToolError>) {
        if case .ended = stage { return }
        if case .exploring = stage { showPartialTable() }
        stage = .ended
        guard let link, link.isOpen else { return finish(result) }
        // Packets may still be pending, and a controller may drop them when it ends the link.
        loop.schedule(after: Self.lastWords) { [finish] in finish(result) }
    }

    /// Prints the table as far as it has been read, when exploring ends early.
    private func showPartialTable() {
        guard let listing = walk?.table.listing, !listing.services.isEmpty else { return }
        report.say("its services as far as they were discovered:")
        report.show(listing, as: listing.lines)
    }

    /// The name that the peer advertises; nil if it has none.
    var foundName: String? { found?.names.first }

    /// The peer's name, or whatever else is known of it.
    var name: String { foundName ?? found?.label ?? plan.selector.text }

    private var document: DeviceDocument { found?.document ?? DeviceDocument() }

    private func vanished(_ reason: String) {
        end(.failure(.peerVanished(name, doing: stage.doing, reason: reason)))
    }

    // MARK: Controller

    /// Ends after an error of the controller, which is not the peer's fault.
    private func failed(_ error: GAPError, doing what: String) {
        guard error == .notReady else {
            return end(.failure(ToolError(error, doing: what, controller: plan.controller)))
        }
        system.explainReset(of: plan.controller) { [self] in end(.failure($0)) }
    }

    private func search() {
        guard case .starting = stage else { return }
        if let error = system.peers.bondFailure { return end(.failure(.bonds(error))) }
        if plan.sharesOutOfBand, let own = system.peers.shareOutOfBand() { report.say("out of band: \(own.digits)") }
        stage = .searching(DeviceChoice(plan.selector))
        report.say("searching for \(plan.selector.quoted)")
        loop.schedule(after: .seconds(plan.timeout)) { [weak self] in self?.searchedLongEnough() }
    }

    private func searchedLongEnough() {
        guard case .searching(let choice) = stage else { return }
        if choice.best != nil { return choose() }
        end(.failure(.noSuchDevice(plan.selector, .explore, seconds: plan.timeout, found: choice.found)))
    }

    /// Ends after the time for connecting, which does not depend on how long the search took.
    private func connectedTooLate() {
        guard case .connecting = stage else { return }
        guard let refusal = system.connectionRefusal else {
            return vanished("it does not respond to the connection request")
        }
        failed(refusal, doing: "connect to \(peer)")
    }

    // MARK: Peer

    private func receive(_ sighting: Sighting) {
        guard case .searching(var choice) = stage else { return }
        let candidate = DeviceCandidate(sighting)
        guard sighting.isConnectable else {
            choice.pass(candidate)
            stage = .searching(choice)
            return
        }
        let isFirst = choice.best == nil
        choice.add(candidate, sighting)
        stage = .searching(choice)
        // A whole name is what the peripheral is called. Others may begin in the same way.
        if let best = choice.best, best >= .named { return choose() }
        if isFirst, choice.best != nil {
            loop.schedule(after: DeviceChoice<Sighting>.settling) { [weak self] in self?.choose() }
        }
    }

    private func choose() {
        guard case .searching(let choice) = stage else { return }
        switch choice.result {
        case .none: return
        case .several(let devices): end(.failure(.ambiguousDevice(plan.selector, devices)))
        case .one(let candidate, let sighting):
            let address = sighting.address
            found = candidate
            report.show(
                LinkDocument(device: candidate.document, state: "found"),
                as: "found \(name.quotedName) at \(address) (\(address.kind)), \(sighting.rssi) dBm"
            )
            peer = address
            system.endOpenScan()
            loop.schedule(after: .seconds(plan.timeout)) { [weak self] in self?.connectedTooLate() }
            connect()
        }
    }

    private func connect() {
        stage = .connecting
        attempts += 1
        system.begin(
            OpenLink(
                to: peer,
                onLink: { [weak self] in self?.connected($0, $1) },
                onFailure: { [weak self, peer] in self?.failed($0, doing: "connect to \(peer)") }
            )
        )
    }

    private func connected(_ link: AccessLink, _ attributes: LinkAttributes) {
        guard case .connecting = stage else { return link.terminate() }
        stage = .securing
        self.link = link
        report.show(LinkDocument(device: document, state: "connected"), as: "connected")
        link.parameterPolicy = { [report, name] in
            let rules = AppleConnectionParameterRules()
            if rules.accept($0) { return true }
            report.say("refused parameters that \(name.quotedName) requests: \(rules.explanation(of: $0))")
            return false
        }
        link.onEnd = { [weak self] in self?.disconnected($0) }
        attributes.bearer.onClose = { [weak self] closure in
            guard closure != .linkLost else { return }
            self?.vanished(inWords(closure))
        }
        secure(link, attributes.client)
    }

    private func disconnected(_ end: AccessLink.End) {
        switch (end, stage) {
        case (.controllerGone, _): failed(.notReady, doing: "keep the link")
        case (_, .leaving):
            report.show(LinkDocument(device: document, state: "disconnected"), as: "disconnected")
            self.end(.success(()))
        // The peer missed the connection request, which is not acknowledged (behaviour 3.41).
        case (.disconnected(.connectionFailedToBeEstablished), _) where attempts < Self.maximumAttempts:
            report.say("\(name.quotedName) missed the connection request; connecting again")
            (link, walk) = (nil, nil)
            connect()
        case (_, _): vanished("the link was lost: \(end.reason)")
        }
    }

    // MARK: Table and values

    func explore(_ client: GATTClient) {
        stage = .exploring
        client.exchangeMTU { [weak self] result in
            guard let self, case .exploring = stage else { return }
            if case .success(let mtu) = result { report.say("MTU \(mtu)") }
            let walk = TableWalk(client, for: document, isRaw: plan.visit.isRaw) { [weak self] result in
                switch result {
                case .success(let table): self?.explored(table, client)
                case .failure(let error): self?.stopped(by: error)
                }
            }
            self.walk = walk
            walk.begin()
        }
    }

    /// Ends the exploration, except after a lost link: its disconnection event has the reason. Only the end of the
    /// attribute protocol has to do with the range.
    private func stopped(by error: GATTError) {
        if case .bearer(.closed(.linkLost)) = error { return }
        if case .bearer(.closed(let closure)) = error { return vanished(inWords(closure)) }
        incomplete("cannot be used further: \(error.words)")
    }

    private func explored(_ table: TableWalk.Table, _ client: GATTClient) {
        guard case .exploring = stage else { return }
        report.show(table.listing, as: table.listing.lines)
        stage = .visiting
        guard plan.wantsBearers, let attributes = link?.attributes else { return use(table, client) }
        let atOnce = BearersAtOnce(attributes, table.listing, report: report) { [weak self] in
            self?.use(table, client)
        }
        self.atOnce = atOnce
        atOnce.begin()
    }

    private func use(_ table: TableWalk.Table, _ client: GATTClient) {
        guard case .visiting = stage else { return }
        let visit = Visit(client, plan.visit, of: document, table: table, report: report) { [weak self] in
            self?.visited($0)
        }
        self.visit = visit
        visit.begin()
    }

    private func visited(_ result: Visit.End) {
        guard case .visiting = stage else { return }
        switch result {
        case .done: leave()
        case .stopped(let error):
            if let response = error.response { incomplete("refuses: \(response.code)") } else { stopped(by: error) }
        case .missing(let uuid): incomplete("has no characteristic \(nameOf(uuid))")
        case .unclear(let error): end(.failure(error))
        }
    }

    private func incomplete(_ what: String) {
        end(.failure(.incomplete("\(name.quotedName) \(what)")))
    }

    private func leave() {
        stage = .leaving
        link?.terminate()
    }
}

extension DeviceCandidate {
    init(_ sighting: Sighting) {
        self.init(
            address: sighting.isAnonymous ? nil : sighting.address,
            names: [sighting.data.localName?.text].compactMap(\.self),
            services: sighting.data.serviceUUIDs
        )
    }
}

private func inWords(_ closure: ATTBearerClosure) -> String {
    switch closure {
    case .requestTimeout: "its attribute server did not answer a request within 30 s"
    case .indicationTimeout: "it did not confirm an indication within 30 s"
    case .tooManyRequests: "it sends requests without waiting for responses"
    case .linkLost: "the link was lost"
    case .local: "the attribute protocol was closed"
    }
}
