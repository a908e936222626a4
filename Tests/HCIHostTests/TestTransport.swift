import BluetoothTypes
import EventLoops
import HCI
import Logging

@testable import HCIHost

/// The host's end of a transport whose other end is the test.
final class TestTransport: HCITransport {
    let loop: VirtualEventLoop
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    var onSend: ((HCIPacket) -> Void)?
    var sent: [HCIPacket] = []
    var isClosed = false
    var place = ""
    var maximumACLPayload: Int?
    var isOpening = false

    init(loop: VirtualEventLoop) {
        self.loop = loop
    }

    func send(_ packet: HCIPacket) {
        sent.append(packet)
        onSend?(packet)
    }

    func close() { isClosed = true }

    /// Passes a packet to the host in a task of its own.
    func inject(_ packet: HCIPacket) {
        loop.execute { [weak self] in self?.onReceive?(packet) }
    }

    /// The commands sent so far, by name.
    var commands: [String] {
        sent.filter { $0.kind == .command }.compactMap { packet in
            (try? CommandPacket(reading: packet.bytes)).map { frame in
                HCICommandRegistry.type(for: frame.opcode)?.name ?? "\(frame.opcode)"
            }
        }
    }

    /// The data sent so far.
    var data: [ACLPacket] {
        sent.filter { $0.kind == .acl }.compactMap { try? ACLPacket(reading: $0.bytes) }
    }
}

/// A controller whose answers the test scripts.
final class ScriptedController {
    /// How the controller reacts to a command.
    enum Reaction {
        case answer
        case silence
        case refuse(HCIStatus)
        case packets([HCIPacket])
    }

    let transport: TestTransport
    var version = SpecificationVersion.v5_4
    var commands = SupportedCommands(HCICommandRegistry.all)
    var features: LMPFeatures = [.brEdrNotSupported, .leController]
    var leFeatures: LEFeatures = [
        .encryption, .connectionParametersRequest, .dataLengthExtension, .privacy, .phy2M, .phyCoded,
        .extendedAdvertising, .channelSelectionAlgorithm2, .ping,
    ]
    var bufferSize: UInt16 = 251
    var bufferCount: UInt8 = 4
    var credits: UInt8 = 1
    /// Called before each command.
    var reaction: (Opcode) -> Reaction = { _ in .answer }
    private(set) var masks: [String: UInt64] = [:]

    init(_ transport: TestTransport) {
        self.transport = transport
        transport.onSend = { [weak self] in self?.receive($0) }
    }

    private func receive(_ packet: HCIPacket) {
        guard packet.kind == .command, let frame = try? CommandPacket(reading: packet.bytes) else { return }
        switch reaction(frame.opcode) {
        case .silence: return
        case .refuse(let status): complete(frame.opcode, [status.rawValue])
        case .packets(let packets): packets.forEach(transport.inject)
        case .answer where frame.opcode == HostNumberOfCompletedPackets.opcode: return
        case .answer: answer(frame)
        }
    }

    func complete(_ opcode: Opcode, _ parameters: PacketBuffer) {
        transport.inject(HCIPacket(CommandComplete(credits: credits, opcode: opcode, parameters: parameters)))
    }

    private func answer(_ frame: CommandPacket) {
        guard let command = try? HCICommandRegistry.decode(frame), commands.contains(type(of: command)) else {
            return complete(frame.opcode, [HCIStatus.unknownCommand.rawValue])
        }
        if type(of: command).isAnsweredByStatus {
            return transport.inject(HCIPacket(CommandStatus(status: .success, credits: credits, opcode: frame.opcode)))
        }
        note(command)
        complete(frame.opcode, response(command).encoded())
    }

    private func note(_ command: any HCICommand) {
        switch command {
        case let command as SetEventMask: masks["event"] = command.mask.rawValue
        case let command as SetEventMaskPage2: masks["page 2"] = command.mask.rawValue
        case let command as LESetEventMask: masks["LE"] = command.mask.rawValue
        default: break
        }
    }

    private func response(_ command: any HCICommand) -> any HCIResponse {
        switch command {
        case is ReadLocalVersionInformation:
            ReadLocalVersionInformation.Response(
                hciVersion: version,
                hciRevision: 1,
                linkLayerVersion: version,
                companyIdentifier: 0x05F1,
                linkLayerSubversion: 2
            )
        case is ReadLocalSupportedCommands: ReadLocalSupportedCommands.Response(commands: commands)
        case is ReadLocalSupportedFeatures: ReadLocalSupportedFeatures.Response(features: features)
        case is ReadBDADDR:
            ReadBDADDR.Response(address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice))
        case is LEReadLocalSupportedFeatures: LEReadLocalSupportedFeatures.Response(features: leFeatures)
        case is LEReadBufferSizeV2:
            LEReadBufferSizeV2.Response(
                LEReadBufferSize.Response(aclDataPacketLength: bufferSize, totalACLDataPackets: bufferCount)
            )
        case is LEReadBufferSize:
            LEReadBufferSize.Response(aclDataPacketLength: bufferSize, totalACLDataPackets: bufferCount)
        case is ReadBufferSize:
            ReadBufferSize.Response(
                aclDataPacketLength: 1_021,
                synchronousDataPacketLength: 64,
                totalACLDataPackets: 5,
                totalSynchronousDataPackets: 1
            )
        case is LEReadSupportedStates: LEReadSupportedStates.Response(states: .all)
        case is LEReadFilterAcceptListSize: LEReadFilterAcceptListSize.Response(size: 8)
        case is LEReadResolvingListSize: LEReadResolvingListSize.Response(size: 7)
        case is LEReadMaximumDataLength:
            LEReadMaximumDataLength.Response(txOctets: 251, txTime: 2_120, rxOctets: 251, rxTime: 2_120)
        case is LEReadTransmitPower: LEReadTransmitPower.Response(minimum: -20, maximum: 8)
        case is LEReadMaximumAdvertisingDataLength: LEReadMaximumAdvertisingDataLength.Response(length: 1_650)
        case is LEReadNumberOfSupportedAdvertisingSets: LEReadNumberOfSupportedAdvertisingSets.Response(count: 4)
        case is LERand: LERand.Response(number: 0x0102_0304_0506_0708)
        case let command as LELongTermKeyRequestReply: StatusAndHandle(.success, handle: command.handle)
        case let command as LELongTermKeyRequestNegativeReply: StatusAndHandle(.success, handle: command.handle)
        case let command as LERemoteConnectionParameterRequestNegativeReply:
            StatusAndHandle(.success, handle: command.handle)
        default: StatusOnly()
        }
    }
}

/// A host, a scripted controller, and everything the host reported.
final class HostBench {
    let loop = VirtualEventLoop()
    let transport: TestTransport
    let controller: ScriptedController
    let host: HCIHost
    var states: [HCIHost.State] = []
    var connections: [HCIConnection] = []
    var failures: [HCIStatus] = []
    var disconnections: [(handle: UInt16, reason: HCIStatus)] = []

    init(configuration: HCIHost.Configuration = .init()) {
        transport = TestTransport(loop: loop)
        controller = ScriptedController(transport)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        host = HCIHost(transport: transport, loop: loop, stackEvents: .log(logger), configuration: configuration)
        host.onStateChange = { [unowned self] in states.append($0) }
        host.onConnection = { [unowned self] in connections.append($0) }
        host.onConnectionFailed = { [unowned self] in failures.append($0) }
        host.onDisconnection = { [unowned self] in disconnections.append(($0.handle.rawValue, $1)) }
    }

    /// Brings the host up and forgets what it sent for that.
    func up() {
        host.start()
        run()
        transport.sent = []
    }

    func run(_ duration: Duration = .milliseconds(100)) {
        loop.run(for: duration)
    }

    func inject(_ event: some HCIEvent) {
        transport.inject(HCIPacket(event))
        run(.milliseconds(1))
    }

    func inject(_ kind: HCIPacket.Kind, _ bytes: PacketBuffer) {
        transport.inject(HCIPacket(kind, bytes))
        run(.milliseconds(1))
    }

    @discardableResult
    func connect(_ handle: UInt16, role: LERole = .central) -> HCIConnection? {
        inject(Self.connectionComplete(handle, role: role))
        return host.connection(ConnectionHandle(rawValue: handle))
    }

    static func connectionComplete(
        _ handle: UInt16,
        role: LERole = .central,
        status: HCIStatus = .success
    ) -> LEEnhancedConnectionComplete {
        LEEnhancedConnectionComplete(
            status: status,
            handle: ConnectionHandle(rawValue: handle),
            role: role,
            peerAddress: BluetoothAddress(0xC000_0000_0000 + UInt64(handle), kind: .randomDevice),
            interval: 24,
            latency: 0,
            supervisionTimeout: 72,
            centralClockAccuracy: .ppm50
        )
    }

    func completed(_ entries: (UInt16, UInt16)...) {
        inject(
            NumberOfCompletedPackets(
                entries: entries.map { CompletedPackets(handle: ConnectionHandle(rawValue: $0.0), count: $0.1) }
            )
        )
    }

    var information: ControllerInformation? {
        if case .ready(let information) = host.state { information } else { nil }
    }

    var error: HCIHostError? {
        if case .failed(let error) = host.state { error } else { nil }
    }
}
