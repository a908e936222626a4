import BluetoothTypes
import EventLoops
import HCI

/// Controllers that receive each other at once and without loss. They implement only what the service needs, so that
/// tests can also make a controller misbehave.
final class TestAir {
    let loop: VirtualEventLoop
    fileprivate(set) var controllers: [TestController] = []

    init(loop: VirtualEventLoop) {
        self.loop = loop
    }

    /// A controller, and the host's end of its transport.
    func addController() -> (controller: TestController, transport: InMemoryTransport) {
        let ends = InMemoryTransport.pair(loop: loop)
        let controller = TestController(transport: ends.controller, air: self)
        controllers.append(controller)
        return (controller, ends.host)
    }
}

/// One end of a connection.
private final class TestLink {
    let handle: ConnectionHandle
    unowned let owner: TestController
    var peer: TestLink?

    init(_ handle: UInt16, owner: TestController) {
        self.handle = ConnectionHandle(rawValue: handle)
        self.owner = owner
    }
}

final class TestController {
    /// The delay of a data packet.
    static let dataDelay = Duration.milliseconds(5)

    let transport: InMemoryTransport
    private unowned let air: TestAir
    private var loop: VirtualEventLoop { air.loop }
    private(set) var address = BluetoothAddress.none
    private(set) var advertisement: PacketBuffer = []
    private(set) var scanResponse: PacketBuffer = []
    private(set) var interval: Duration = .milliseconds(20)
    private(set) var isAdvertising = false
    private var nextEvent: ScheduledTask?
    private(set) var isScanning = false
    private(set) var scanParameters: LESetScanParameters?
    private(set) var initiating: Set<BluetoothAddress>?
    private(set) var lastConnectionRequest: LECreateConnection?
    private(set) var lastConnectionUpdate: LEConnectionUpdate?
    private var acceptList: Set<BluetoothAddress> = []
    private var links: [TestLink] = []
    private var lastHandle: UInt16 = 0x40
    /// The names of the commands received.
    private(set) var commands: [String] = []
    /// The number of data packets that the host sent.
    private(set) var dataPackets = 0
    /// Commands to refuse, and the status to refuse them with.
    var refuses: [Opcode: HCIStatus] = [:]
    /// Whether the controller can receive and be received.
    var isInRange = true

    fileprivate init(transport: InMemoryTransport, air: TestAir) {
        self.transport = transport
        self.air = air
        transport.onReceive = { [weak self] in self?.receive($0) }
    }

    private func receive(_ packet: HCIPacket) {
        if packet.kind == .acl {
            sendData(packet)
        } else if let command = try? CommandPacket(reading: packet.bytes) {
            commands.append(HCICommandRegistry.type(for: command.opcode)?.name ?? "\(command.opcode)")
            if let status = refuses[command.opcode] { return refuse(command.opcode, status) }
            if !perform(command) { refuse(command.opcode, .unknownCommand) }
        }
    }

    private func send(_ event: some HCIEvent) {
        transport.send(HCIPacket(event))
    }

    private func refuse(_ opcode: Opcode, _ status: HCIStatus) {
        let isAnsweredByStatus = HCICommandRegistry.type(for: opcode)?.isAnsweredByStatus ?? true
        if isAnsweredByStatus {
            send(CommandStatus(status: status, credits: 1, opcode: opcode))
        } else {
            send(CommandComplete(credits: 1, opcode: opcode, parameters: [status.rawValue]))
        }
    }

    private func accept(_ opcode: Opcode) {
        send(CommandComplete(credits: 1, opcode: opcode, parameters: [0]))
    }

    // MARK: Commands

    private func perform(_ command: CommandPacket) -> Bool {
        let parameters = command.parameters
        switch command.opcode {
        case Reset.opcode: reset()
        case SetEventMask.opcode, LESetEventMask.opcode: break
        case LESetScanParameters.opcode: scanParameters = try? LESetScanParameters(reading: parameters)
        case LESetRandomAddress.opcode:
            address = (try? LESetRandomAddress(reading: parameters))?.address ?? .none
            address.kind = .randomDevice
        case LESetAdvertisingData.opcode:
            advertisement = (try? LESetAdvertisingData(reading: parameters))?.data ?? []
        case LESetScanResponseData.opcode:
            scanResponse = (try? LESetScanResponseData(reading: parameters))?.data ?? []
        case LESetAdvertisingParameters.opcode:
            let units = (try? LESetAdvertisingParameters(reading: parameters))?.intervalMin ?? 32
            interval = .microseconds(625 * Int64(units))
        case LESetAdvertisingEnable.opcode:
            setAdvertising(parameters.first == 1)
        case LESetScanEnable.opcode: isScanning = parameters.first == 1
        case LEClearFilterAcceptList.opcode: acceptList = []
        case LEAddDeviceToFilterAcceptList.opcode:
            if let address = (try? LEAddDeviceToFilterAcceptList(reading: parameters))?.address {
                acceptList.insert(address)
            }
        default: return performAnswered(command)
        }
        accept(command.opcode)
        return true
    }

    /// Commands that have a response of their own.
    private func performAnswered(_ command: CommandPacket) -> Bool {
        switch command.opcode {
        case LEReadLocalSupportedFeatures.opcode:
            send(CommandComplete(LEReadLocalSupportedFeatures.self, .init(features: [])))
        case LEReadBufferSize.opcode:
            send(CommandComplete(LEReadBufferSize.self, .init(aclDataPacketLength: 251, totalACLDataPackets: 8)))
        case LEReadFilterAcceptListSize.opcode:
            send(CommandComplete(LEReadFilterAcceptListSize.self, .init(4)))
        case ReadRSSI.opcode:
            guard let handle = (try? ReadRSSI(reading: command.parameters))?.handle else { return false }
            send(CommandComplete(ReadRSSI.self, .init(handle: handle, rssi: -42)))
        case LECreateConnection.opcode: createConnection(command.parameters)
        case LECreateConnectionCancel.opcode: cancelConnection()
        case Disconnect.opcode: disconnect(command.parameters)
        case LEConnectionUpdate.opcode:
            lastConnectionUpdate = try? LEConnectionUpdate(reading: command.parameters)
            send(CommandStatus(credits: 1, opcode: LEConnectionUpdate.opcode))
        default: return false
        }
        return true
    }

    private func reset() {
        for link in links { lose(link, .connectionTimeout, tellsOwner: false) }
        isAdvertising = false
        isScanning = false
        initiating = nil
        address = .none
    }

    // MARK: Advertising

    private func setAdvertising(_ isOn: Bool) {
        guard isOn != isAdvertising else { return }
        isAdvertising = isOn
        if let nextEvent { loop.cancel(nextEvent) }
        // The command completes before any peer can have answered.
        nextEvent = isOn ? loop.schedule(after: .zero) { [weak self] in self?.advertise() } : nil
    }

    private func advertise() {
        guard isAdvertising else { return }
        if isInRange {
            for other in air.controllers where other !== self && other.isInRange { other.hear(self) }
        }
        guard isAdvertising else { return }
        nextEvent = loop.schedule(after: interval) { [weak self] in self?.advertise() }
    }

    private func hear(_ other: TestController) {
        // Two devices share one link, whichever of them initiated it.
        let isLinked = links.contains { $0.peer?.owner === other }
        if initiating?.contains(other.address) == true, !isLinked { return connect(to: other) }
        guard isScanning else { return }
        report(.connectableScannable, other, other.advertisement)
        report(.scanResponse, other, other.scanResponse)
    }

    private func report(_ kind: LEAdvertisingReportKind, _ other: TestController, _ data: PacketBuffer) {
        send(
            LEAdvertisingReport(reports: [
                AdvertisingReport(kind: kind, address: other.address, data: data, rssi: -50)
            ])
        )
    }

    /// Reports an empty advertisement of an unknown device to the host.
    func report(from stranger: BluetoothAddress) {
        send(
            LEAdvertisingReport(reports: [
                AdvertisingReport(kind: .connectableScannable, address: stranger, data: [], rssi: -90)
            ])
        )
    }

    // MARK: Connections

    private func createConnection(_ parameters: PacketBuffer) {
        guard let command = try? LECreateConnection(reading: parameters) else {
            return refuse(LECreateConnection.opcode, .invalidParameters)
        }
        lastConnectionRequest = command
        guard initiating == nil else { return refuse(LECreateConnection.opcode, .commandDisallowed) }
        send(CommandStatus(credits: 1, opcode: LECreateConnection.opcode))
        initiating = command.filterPolicy == .acceptList ? acceptList : [command.peerAddress]
    }

    private func cancelConnection() {
        guard initiating != nil else { return refuse(LECreateConnectionCancel.opcode, .commandDisallowed) }
        initiating = nil
        accept(LECreateConnectionCancel.opcode)
        var event = LEConnectionComplete()
        event.status = .unknownConnection
        send(event)
    }

    private func connect(to other: TestController) {
        initiating = nil
        other.isAdvertising = false
        let mine = open(role: .central, peer: other)
        let theirs = other.open(role: .peripheral, peer: self)
        mine.peer = theirs
        theirs.peer = mine
    }

    private func open(role: LERole, peer: TestController) -> TestLink {
        lastHandle += 1
        let link = TestLink(lastHandle, owner: self)
        links.append(link)
        send(
            LEConnectionComplete {
                $0.handle = link.handle
                $0.role = role
                $0.peerAddress = peer.address
                $0.interval = 24
                $0.latency = 0
                $0.supervisionTimeout = 72
                $0.centralClockAccuracy = .ppm50
            }
        )
        return link
    }

    private func disconnect(_ parameters: PacketBuffer) {
        guard let command = try? Disconnect(reading: parameters),
            let link = links.first(where: { $0.handle == command.handle })
        else { return refuse(Disconnect.opcode, .unknownConnection) }
        send(CommandStatus(credits: 1, opcode: Disconnect.opcode))
        link.peer?.owner.drop(link.peer, command.reason)
        drop(link, .localHostTerminated)
    }

    private func lose(_ link: TestLink, _ reason: HCIStatus, tellsOwner: Bool) {
        link.peer?.owner.drop(link.peer, reason)
        if tellsOwner { drop(link, reason) } else { links.removeAll { $0 === link } }
    }

    private func drop(_ link: TestLink?, _ reason: HCIStatus) {
        guard let link, links.contains(where: { $0 === link }) else { return }
        links.removeAll { $0 === link }
        link.peer?.peer = nil
        link.peer = nil
        send(DisconnectionComplete(handle: link.handle, reason: reason))
    }

    /// The radio fades: both ends lose all links with `reason`.
    func loseLinks(_ reason: HCIStatus) {
        for link in links { lose(link, reason, tellsOwner: true) }
    }

    /// Unplugs the controller: it leaves the air, and its transport closes.
    func unplug() {
        reset()
        isInRange = false
        transport.onReceive = nil
        transport.close()
        air.controllers.removeAll { $0 === self }
    }

    // MARK: Data

    private func sendData(_ packet: HCIPacket) {
        guard let acl = try? ACLPacket(reading: packet.bytes),
            let link = links.first(where: { $0.handle == acl.handle })
        else { return }
        dataPackets += 1
        loop.schedule(after: Self.dataDelay) { [weak self] in
            guard let self, let peer = link.peer else { return }
            send(NumberOfCompletedPackets(entries: [CompletedPackets(handle: link.handle, count: 1)]))
            let boundary: ACLPacket.Boundary = acl.boundary.isStart ? .start : .continuation
            peer.owner.transport.send(
                HCIPacket(ACLPacket(handle: peer.handle, boundary: boundary, payload: acl.payload))
            )
        }
    }
}
