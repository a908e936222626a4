import ATT
import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import L2CAP
import Logging
import SMP
import Security
import ServiceMessages

/// Finds a peripheral, prints its whole attribute table with values, follows one value and disconnects.
///
/// Uses the host stack rather than Core Bluetooth, which hides handles and some services. Lives on its loop.
final class Explorer {
    struct Plan: Sendable {
        var selector: DeviceSelector
        var controller: String
        var timeout: Double
        var trust = Trust()
        /// Whether to open enhanced bearers and read all values again over them.
        var wantsBearers = false
        var visit = Visit.Plan()
    }

    struct Trust: Sendable {
        var configuration = PairingConfiguration()
        /// Whether bonds, and the identity of this device, outlast the program.
        var keepsBonds = false
        /// Whether to encrypt the link before anything else.
        var pairs = false
        /// The peer's out-of-band data.
        var outOfBand: OutOfBandData?
        /// Whether to print own out-of-band data for the peer.
        var sharesOutOfBand = false
        /// The answer to every prompt; nil to ask the user.
        var prepared: TerminalPrompter.Prepared?
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
    /// The time limit of the disconnection after a failed exploration.
    private static let disconnectTimeout = Duration.milliseconds(500)
    /// How long to wait for pending packets to reach the peer before disconnecting.
    private static let lastWords = Duration.milliseconds(100)

    let plan: Plan
    private let loop: any EventLoop
    let random: RandomSource
    let device: GenericAccess
    private let central: Central
    private let finish: (Result<Void, ToolError>) -> Void
    let report: ToolReport
    private var stage = Stage.starting
    private var peer = BluetoothAddress.none
    /// The peer for display, once it is found.
    private var found: DeviceCandidate?
    private var attempts = 0
    private(set) var link: AccessLink?
    private let prompter: TerminalPrompter
    let storage: () throws(ToolError) -> any BondStorage
    private var bondFailure: ToolError?
    /// The last reason why the security level could not be raised.
    var lastRefusal: String?
    private var walk: TableWalk?
    private var bearers: EnhancedBearerListener?
    private var atOnce: BearersAtOnce?
    private var visit: Visit?

    init(
        _ plan: Plan,
        storage: @escaping () throws(ToolError) -> any BondStorage,
        transport: any HCITransport,
        loop: any EventLoop,
        random: RandomSource,
        report: ToolReport,
        finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.plan = plan
        self.storage = storage
        self.loop = loop
        self.random = random
        self.report = report
        self.finish = finish
        let stackEvents = StackEventSink.log(Logger(label: "harald.explore"))
        device = GenericAccess(
            host: HCIHost(transport: transport, loop: loop, stackEvents: stackEvents),
            loop: loop,
            random: random,
            // With persistent bonds, the device needs the same address each time the bonds are opened, because bonded
            // peers recognize it by that.
            address: plan.trust.keepsBonds ? .identity : .staticRandom,
            pairing: plan.trust.configuration,
            stackEvents: stackEvents
        )
        central = Central(device)
        prompter = TerminalPrompter(loop: loop, prepared: plan.trust.prepared)
        device.deviceSecurity.prompter = prompter
        device.deviceSecurity.policy.lostBonds = .asked
        device.connector.settings = .apple
        listen()
    }

    private func listen() {
        device.openBonds = { [weak self] controller in
            do throws(ToolError) {
                return try self?.openBonds(of: controller)
            } catch {
                self?.bondFailure = error
                return nil
            }
        }
        device.onStateChange = { [weak self] in self?.deviceChanged($0) }
        device.onLink = { [weak self] in self?.connected($0) }
    }

    /// Whether the link is being secured.
    var isSecuring: Bool {
        if case .securing = stage { true } else { false }
    }

    func start() {
        device.start()
    }

    func end(_ result: Result<Void, ToolError>) {
        if case .ended = stage { return }
        if case .exploring = stage { showPartialTable() }
        stage = .ended
        guard let link, link.isOpen else { return close(result) }
        // Packets may still be pending, and a controller may drop them when it ends the link.
        loop.schedule(after: Self.lastWords) { [self] in
            // Disconnects so that the peer need not detect a timeout. The outcome does not depend on it.
            link.terminate()
            loop.schedule(after: Self.disconnectTimeout) { [self] in close(result) }
        }
    }

    /// Prints the table as far as it has been read, when exploring ends early.
    private func showPartialTable() {
        guard let listing = walk?.table.listing(of: document, raw: plan.visit.isRaw), !listing.services.isEmpty else {
            return
        }
        report.say("its services as far as they were discovered:")
        report.show(listing, as: listing.lines)
    }

    private func close(_ result: Result<Void, ToolError>) {
        device.stop()
        device.whenSilent { [finish] in finish(result) }
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

    private func deviceChanged(_ state: GenericAccess.State) {
        switch (state, stage) {
        case (.off, _), (.starting, .starting): break
        case (.starting, _):
            let cause = device.resetCause.map { "\($0); " } ?? ""
            end(.failure(.controllerFailed(plan.controller, reason: "\(cause)it was reset")))
        case (.failed(let error), .starting): end(.failure(ToolError(error, controller: plan.controller)))
        case (.failed(let error), _): end(.failure(ToolError(losing: plan.controller, error)))
        case (.ready, .starting): search()
        case (.ready, _): break
        }
    }

    private func search() {
        if let bondFailure { return end(.failure(bondFailure)) }
        stage = .searching(DeviceChoice(plan.selector))
        report.say("searching for \(plan.selector.quoted)")
        do throws(GAPError) {
            try device.scan(
                .attentive,
                for: self,
                onSighting: { [weak self] in self?.receive($0) },
                onEnd: { [weak self] error in
                    guard let self, let error, error != .notReady else { return }
                    end(.failure(ToolError(error, doing: "scan", controller: plan.controller)))
                }
            )
        } catch {
            end(.failure(ToolError(error, doing: "scan", controller: plan.controller)))
        }
        loop.schedule(after: .seconds(plan.timeout)) { [weak self] in self?.searchedLongEnough() }
    }

    private func searchedLongEnough() {
        switch stage {
        case .searching(let choice):
            if choice.best != nil { return choose() }
            end(.failure(.noSuchDevice(plan.selector, .explore, seconds: plan.timeout, found: choice.found)))
        case .connecting:
            guard let refusal = device.connector.refusal else {
                return vanished("it does not respond to the connection request")
            }
            refused(refusal)
        default: break
        }
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
            device.endScan(for: self)
            connect()
        }
    }

    private func connect() {
        stage = .connecting
        attempts += 1
        central.connect(to: peer) { [weak self] result in
            // A missing controller is reported through the device's state.
            guard case .failure(let error) = result, error != .notReady else { return }
            self?.refused(error)
        }
    }

    /// Reports a connection attempt that the controller refuses, which is not the peer's fault.
    private func refused(_ error: GAPError) {
        end(.failure(ToolError(error, doing: "connect to \(peer)", controller: plan.controller)))
    }

    private func connected(_ link: AccessLink) {
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
        // Either side may open bearers.
        bearers = plan.wantsBearers ? try? EnhancedBearerListener(servers: device.channels) : nil
        let attributes = link.openAttributes(mtu: 517, enhanced: bearers)
        attributes.bearer.onClose = { [weak self] closure in
            guard closure != .linkLost else { return }
            self?.vanished(inWords(closure))
        }
        secure(link, attributes.client)
    }

    private func disconnected(_ end: AccessLink.End) {
        switch (end, stage) {
        // The device's state change reports this in more detail.
        case (.controllerGone, _): break
        case (_, .leaving):
            report.show(LinkDocument(device: document, state: "disconnected"), as: "disconnected")
            self.end(.success(()))
        // The peer missed the connection request, which is not acknowledged (behaviour 3.41).
        case (.disconnected(.connectionFailedToBeEstablished), _) where attempts < Self.maximumAttempts:
            report.say("\(name.quotedName) missed the connection request; connecting again")
            (link, walk, bearers) = (nil, nil, nil)
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
            let walk = TableWalk(client) { [weak self] result in
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

    private func explored(_ table: AttributeTable, _ client: GATTClient) {
        guard case .exploring = stage else { return }
        let listing = table.listing(of: document, raw: plan.visit.isRaw)
        report.show(listing, as: listing.lines)
        stage = .visiting
        guard plan.wantsBearers, let attributes = link?.attributes else { return use(table, client) }
        let atOnce = BearersAtOnce(attributes, table: table, report: report) { [weak self] in self?.use(table, client) }
        self.atOnce = atOnce
        atOnce.begin()
    }

    private func use(_ table: AttributeTable, _ client: GATTClient) {
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
        case .doesNotNotify(let uuid, let table): end(.failure(.incomplete(table.listing().doesNotNotify(uuid))))
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
    /// The sender of an advertisement.
    init(_ sighting: Sighting) {
        self.init(
            address: sighting.isAnonymous ? nil : sighting.address,
            names: [sighting.data.localName?.text].compactMap(\.self),
            services: sighting.data.serviceUUIDs
        )
    }
}

/// Describes for the user why the attribute bearer closed.
private func inWords(_ closure: ATTBearerClosure) -> String {
    switch closure {
    case .requestTimeout: "its attribute server did not answer a request within 30 s"
    case .indicationTimeout: "it did not confirm an indication within 30 s"
    case .tooManyRequests: "it sends requests without waiting for responses"
    case .linkLost: "the link was lost"
    case .local: "the attribute protocol was closed"
    }
}
