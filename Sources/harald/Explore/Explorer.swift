import ATT
import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import L2CAP
import Logging
import SMP

/// Finds a peripheral by name, prints its whole attribute table with values, follows one value and leaves.
///
/// It sits on the host stack rather than on Core Bluetooth, which hides handles and some services. Lives on its loop.
final class Explorer {
    struct Plan: Sendable {
        var name: String
        var controller: String
        var timeout: Double
        var trust = Trust()
        var visit = Visit.Plan()
    }

    /// How it pairs.
    struct Trust: Sendable {
        var configuration = PairingConfiguration()
        /// Whether bonds outlast this program, and with them who this device is.
        var keepsBonds = false
        /// Whether the link has to be encrypted before anything else.
        var pairs = false
        /// What came from the peer another way.
        var outOfBand: OutOfBandData?
        /// Whether something is to go to the peer another way.
        var sharesOutOfBand = false
        /// The answer to every question; nil to ask the person.
        var prepared: TerminalPrompter.Prepared?
    }

    private enum Stage {
        case starting
        case searching(heard: Set<BluetoothAddress>)
        case connecting(BluetoothAddress)
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

    /// Devices that are remembered to tell how many others were heard.
    private static let maximumHeard = 1_000
    /// How long a disconnection may take at the end of an exploration that failed.
    private static let goodbye = Duration.milliseconds(500)
    /// How long what was said last has to get to the peer before the link ends.
    private static let lastWords = Duration.milliseconds(100)

    let plan: Plan
    private let loop: any EventLoop
    let random: RandomSource
    private let host: HCIHost
    private let scanner: GAP.Scanner
    private let connector: Connector
    private let finish: (Result<Void, ToolError>) -> Void
    private var stage = Stage.starting
    private var connection: HCIConnection?
    private var l2cap: L2CAPConnection?
    let security: DeviceSecurity
    private let prompter: TerminalPrompter
    let storage: () throws(ToolError) -> any BondStorage
    private(set) var ownAddress = BluetoothAddress.none
    var secureLink: SecureLink?
    private var walk: TableWalk?
    private var visit: Visit?

    init(
        _ plan: Plan,
        storage: @escaping () throws(ToolError) -> any BondStorage,
        transport: any HCITransport,
        loop: any EventLoop,
        random: RandomSource,
        finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.plan = plan
        self.storage = storage
        self.loop = loop
        self.random = random
        self.finish = finish
        let logger = Logger(label: "harald.explore")
        host = HCIHost(transport: transport, loop: loop, logger: logger)
        scanner = GAP.Scanner(host: host, loop: loop, logger: logger)
        connector = Connector(host: host, loop: loop, logger: logger)
        prompter = TerminalPrompter(loop: loop, prepared: plan.trust.prepared)
        security = DeviceSecurity(
            host: host,
            loop: loop,
            random: random,
            configuration: plan.trust.configuration,
            logger: logger
        )
        security.prompter = prompter
        security.policy.lostBonds = .asked
        host.onStateChange = { [weak self] in self?.hostChanged($0) }
        host.onConnection = { [weak self] in self?.connected($0) }
        host.onConnectionFailed = { [weak self] in self?.connector.ended($0) }
        host.onDisconnection = { [weak self] in self?.disconnected($0, $1) }
        scanner.onSighting = { [weak self] in self?.heard($0) }
        scanner.onFailed = { [weak self] in
            guard let self else { return }
            end(.failure(.controllerFailed(self.plan.controller, reason: "\($0)")))
        }
        connector.settings = .apple
        connector.parameterPolicy = { AppleConnectionParameterRules().accept($1) }
        connector.onFailure = { [weak self] in self?.vanished("the controller refuses to connect to \($0): \($1)") }
    }

    /// Whether the link is being secured.
    var isSecuring: Bool {
        if case .securing = stage { true } else { false }
    }

    func start() {
        host.start()
    }

    func end(_ result: Result<Void, ToolError>) {
        if case .ended = stage { return }
        if case .exploring = stage { showWhatIsThere() }
        stage = .ended
        guard let connection, connection.isOpen else { return close(result) }
        // What was said last is on its way still, and a controller that ends a link may drop it.
        loop.schedule(after: Self.lastWords) { [self] in
            // The peer is told, rather than left to find out; the end does not depend on it.
            if connection.isOpen { connector.disconnect(connection) }
            loop.schedule(after: Self.goodbye) { [self] in close(result) }
        }
    }

    /// The table as far as it is known, when there will be no more of it.
    private func showWhatIsThere() {
        guard let lines = walk?.table.lines, !lines.isEmpty else { return }
        Console.line("its services as far as they are known:")
        for line in lines { Console.line(line) }
    }

    private func close(_ result: Result<Void, ToolError>) {
        host.stop()
        finish(result)
    }

    private func vanished(_ reason: String) {
        end(.failure(.peerVanished(plan.name, doing: stage.doing, reason: reason)))
    }

    // MARK: The controller

    private func hostChanged(_ state: HCIHost.State) {
        switch state {
        case .down: break
        case .starting:
            guard case .starting = stage else {
                return end(.failure(.controllerFailed(plan.controller, reason: "it stopped answering and was reset")))
            }
        case .failed(let error): end(.failure(ToolError(error, controller: plan.controller)))
        case .ready(let controller): search(with: controller)
        }
    }

    private func search(with controller: ControllerInformation) {
        guard case .starting = stage else { return }
        do throws(ToolError) { try openBonds(of: controller) } catch { return end(.failure(error)) }
        stage = .searching(heard: [])
        let own = ownAddress(on: controller)
        ownAddress = own.address
        if own.address.kind.isRandom {
            host.send(LESetRandomAddress(address: own.address)) { [weak self] result in
                guard let self, case .failure(let error) = result else { return }
                end(.failure(.controllerFailed(plan.controller, reason: "\(error)")))
            }
        }
        scanner.begin(own, on: controller)
        connector.begin(own, on: controller)
        scanner.want(.attentive)
        Console.line("searching for \(plan.name.quotedName)")
        loop.schedule(after: .seconds(plan.timeout)) { [weak self] in self?.searchedLongEnough() }
    }

    private func searchedLongEnough() {
        switch stage {
        case .searching(let heard):
            end(.failure(.noSuchDevice(plan.name, seconds: plan.timeout, heard: heard.count)))
        case .connecting: vanished("it does not answer the request to connect")
        default: break
        }
    }

    // MARK: The peer

    private func heard(_ sighting: Sighting) {
        guard case .searching(var heard) = stage else { return }
        guard sighting.data.localName?.text == plan.name, sighting.isConnectable else {
            if heard.count < Self.maximumHeard { heard.insert(sighting.address) }
            stage = .searching(heard: heard)
            return
        }
        let address = sighting.address
        Console.line("found \(plan.name.quotedName) at \(address) (\(address.kind)), \(sighting.rssi) dBm")
        stage = .connecting(sighting.address)
        scanner.want(nil)
        connector.want(sighting.address)
    }

    private func connected(_ connection: HCIConnection) {
        guard case .connecting(let address) = stage else { return }
        connector.connected(address)
        stage = .securing
        self.connection = connection
        Console.line("connected")
        let l2cap = L2CAPConnection(link: connection, role: .central, loop: loop)
        let mtu = 517
        let bearer = ATTBearer(
            channel: l2cap.register(.attribute, maximumPayload: mtu),
            loop: loop,
            preferredMTU: mtu
        )
        l2cap.onParametersAccepted = { [weak self] in self?.connector.update(connection, $0) }
        self.l2cap = l2cap
        bearer.onClose = { [weak self] closure in
            guard closure != .linkLost else { return }
            self?.vanished(inWords(closure))
        }
        secure(connection, l2cap, GATTClient(bearer: bearer))
    }

    private func disconnected(_ gone: HCIConnection, _ reason: HCIStatus) {
        // A controller that failed takes its links along; the change of its state says more.
        if gone === connection { secureLink?.end() }
        guard gone === connection, reason != .hardwareFailure else { return }
        if case .leaving = stage {
            Console.line("disconnected")
            end(.success(()))
        } else {
            vanished("the link was lost: \(reason)")
        }
    }

    // MARK: The table, and one value

    func explore(_ client: GATTClient) {
        stage = .exploring
        client.exchangeMTU { [weak self] result in
            guard let self, case .exploring = stage else { return }
            if case .success(let mtu) = result { Console.line("MTU \(mtu)") }
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

    /// A lost link ends the exploration by the disconnection, which knows the reason.
    private func stopped(by error: GATTError) {
        if case .bearer(.closed(.linkLost)) = error { return }
        if case .bearer(.closed(let closure)) = error { return vanished(inWords(closure)) }
        vanished("its attribute table cannot be read: \(error)")
    }

    private func explored(_ table: AttributeTable, _ client: GATTClient) {
        guard case .exploring = stage else { return }
        for line in table.lines { Console.line(line) }
        stage = .visiting
        let visit = Visit(client, plan.visit, table: table) { [weak self] in self?.visited($0) }
        self.visit = visit
        visit.begin()
    }

    private func visited(_ result: Visit.End) {
        guard case .visiting = stage else { return }
        switch result {
        case .done: leave()
        case .stopped(.att(let error)): incomplete("refuses: \(error.code)")
        case .stopped(let error): stopped(by: error)
        case .missing(let uuid): incomplete("has no characteristic \(nameOf(uuid))")
        }
    }

    private func incomplete(_ what: String) {
        end(.failure(.incomplete("\(plan.name.quotedName) \(what)")))
    }

    private func leave() {
        guard let connection else { return }
        stage = .leaving
        connector.disconnect(connection)
    }
}

/// Why an attribute bearer was closed, for a person.
private func inWords(_ closure: ATTBearerClosure) -> String {
    switch closure {
    case .requestTimeout: "its attribute server has not answered a request for 30 s"
    case .indicationTimeout: "it has not confirmed an indication for 30 s"
    case .tooManyRequests: "it sends requests without waiting for the answers"
    case .linkLost: "the link was lost"
    case .local: "the attribute protocol was closed"
    }
}
