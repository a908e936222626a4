import BluetoothTypes
import EventLoops
import HCI
import HCIHost

/// A host on a controller with scripted answers.
package final class ScriptedPeer: HCITransport {
    package let loop = VirtualEventLoop()
    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    package private(set) var host: HCIHost!
    package private(set) var stackEvents: StackEventSink!
    /// The events reported below.
    package private(set) var told: [any StackEvent] = []
    /// The commands sent, decoded.
    package var commands: [any HCICommand] = []
    /// Called with each command that is sent.
    package var onCommand: (any HCICommand) -> Void = { _ in }
    /// The data sent over links.
    package var data: [HCIPacket] = []
    /// The commands to refuse, with their statuses.
    package var refuses: [Opcode: HCIStatus] = [:]
    /// The features of the controller.
    package var features: LEFeatures = [.extendedAdvertising, .phy2M, .phyCoded]

    package init() {
        stackEvents = StackEventSink(wants: { _ in true }, take: { [unowned self] in told.append($0) })
        host = HCIHost(transport: self, loop: loop, stackEvents: stackEvents)
    }

    package var information: ControllerInformation? {
        if case .ready(let information) = host.state { information } else { nil }
    }

    /// Brings the host up and forgets what it sent for that.
    package func up() {
        host.start()
        run()
        commands = []
    }

    package func run(_ duration: Duration = .milliseconds(10)) {
        loop.run(for: duration)
    }

    package func inject(_ event: some HCIEvent) {
        onReceive?(HCIPacket(event))
        run(.milliseconds(1))
    }

    package var names: [String] { commands.map { type(of: $0).name } }

    package func close() {}

    package func send(_ packet: HCIPacket) {
        if packet.kind == .acl { data.append(packet) }
        guard packet.kind == .command, let frame = try? CommandPacket(reading: packet.bytes),
            let command = try? HCICommandRegistry.decode(frame)
        else { return }
        commands.append(command)
        answer(command)
        onCommand(command)
    }

    private func answer<C: HCICommand>(_ command: C) {
        let status = refuses[C.opcode] ?? .success
        let packet: HCIPacket
        if C.isAnsweredByStatus {
            packet = HCIPacket(CommandStatus(status: status, credits: 1, opcode: C.opcode))
        } else {
            let parameters =
                status == .success ? response(command).encoded() : PacketBuffer([status.rawValue])
            packet = HCIPacket(CommandComplete(credits: 1, opcode: C.opcode, parameters: parameters))
        }
        loop.execute { [weak self] in self?.onReceive?(packet) }
    }

    private func response<C: HCICommand>(_ command: C) -> any HCIResponse {
        switch command {
        case is ReadLocalSupportedCommands:
            ReadLocalSupportedCommands.Response(commands: SupportedCommands(HCICommandRegistry.all))
        case is LEReadLocalSupportedFeatures: LEReadLocalSupportedFeatures.Response(features: features)
        case is LEReadBufferSize:
            LEReadBufferSize.Response(aclDataPacketLength: 251, totalACLDataPackets: 4)
        case is LEReadBufferSizeV2:
            LEReadBufferSizeV2.Response(LEReadBufferSize.Response(aclDataPacketLength: 251, totalACLDataPackets: 4))
        case is LEReadFilterAcceptListSize: LEReadFilterAcceptListSize.Response(size: 8)
        case is LEReadMaximumAdvertisingDataLength: LEReadMaximumAdvertisingDataLength.Response(length: 1_650)
        case is LEReadNumberOfSupportedAdvertisingSets: LEReadNumberOfSupportedAdvertisingSets.Response(count: 2)
        default: C.Response()
        }
    }
}
