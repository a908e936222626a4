import BluetoothTypes
import EventLoops
import HCI

@testable import LinkLayer

extension FuzzTarget {
    /// A virtual controller whose host sends anything, next to an honest device.
    static let controller = FuzzTarget("controller", maximumLength: 2_048, seeds: ControllerScene.seeds) { input in
        var input = input
        let scene = ControllerScene()
        while !input.isAtEnd { scene.take(&input) }
        scene.end()
    }
}

/// The host's end of a transport.
final class HostEnd: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    var toHost: ((HCIPacket) -> Void)?

    func send(_ packet: HCIPacket) { toHost?(packet) }
    func close() {}
}

private final class ControllerScene {
    /// The limit of tasks in the time of one input, which is at most a minute and a half.
    static let maximumTasks = 400_000

    private let loop = VirtualEventLoop()
    private let radio: Radio
    private let victim = HostEnd()
    private let honest = HostEnd()
    private var controllers: [VirtualController] = []
    private var answers: [Opcode] = []
    private var tasks = 0

    init() {
        let random = RandomSource(seed: 1)
        radio = Radio(loop: loop, random: random.split(0))
        for (number, end) in [victim, honest].enumerated() {
            let address = BluetoothAddress(UInt64(number + 1), kind: .publicDevice)
            controllers.append(
                VirtualController(
                    transport: end,
                    node: radio.add(at: Position(x: Double(number))),
                    loop: loop,
                    random: random.split(UInt64(number + 1)),
                    configuration: .init(publicAddress: address)
                )
            )
        }
        victim.toHost = { [unowned self] in received($0) }
        honest.onReceive?(HCIPacket(LESetAdvertisingEnable(isEnabled: true)))
    }

    private func received(_ packet: HCIPacket) {
        switch packet.kind {
        case .acl: hold((try? ACLPacket(reading: packet.bytes)) != nil, "\(packet) cannot be read")
        case .event: received(event: packet)
        default: hold(false, "a controller sends \(packet)")
        }
    }

    private func received(event packet: HCIPacket) {
        guard let event = try? EventPacket(reading: packet.bytes) else {
            return hold(false, "\(packet) cannot be read")
        }
        do {
            switch try HCIEventRegistry.decode(event) {
            case let complete as CommandComplete: answers.append(complete.opcode)
            case let status as CommandStatus: answers.append(status.opcode)
            default: break
            }
        } catch {
            hold(false, "\(packet) cannot be read: \(error)")
        }
    }

    func take(_ input: inout FuzzInput) {
        let kind = input.octet()
        switch kind & 0b11 {
        case 0, 1: command(input.counted())
        case 2: victim.onReceive?(HCIPacket(.acl, PacketBuffer(input.counted())))
        default: pass(.milliseconds(Int(kind)))
        }
    }

    /// Sends a command, which must get exactly one response, at once. The host's credits get a response only if they
    /// are wrong (Core Vol 4 Part E 7.3.40).
    private func command(_ octets: [UInt8]) {
        answers = []
        victim.onReceive?(HCIPacket(.command, PacketBuffer(octets)))
        guard let packet = try? CommandPacket(reading: PacketBuffer(octets)) else {
            return hold(answers == [], "answered")
        }
        let isAnswered = answers == [packet.opcode]
        let mayBeSilent = packet.opcode == HostNumberOfCompletedPackets.opcode && answers == []
        hold(isAnswered || mayBeSilent, "\(packet) got the response \(answers)")
    }

    private func pass(_ duration: Duration) {
        loop.run(until: loop.now + duration) {
            tasks += 1
            hold(tasks <= Self.maximumTasks, "the controller is too busy")
            return false
        }
    }

    /// Checks that a reset restores the initial state.
    func end() {
        command(HCIPacket(Reset()).bytes.bytes)
        hold(controllers[0].links.isEmpty, "a link survives a reset")
        var events = 0
        victim.toHost = { [unowned self] packet in
            received(packet)
            events += 1
        }
        pass(.milliseconds(500))
        hold(events == 0, "\(events) events after a reset")
        command(HCIPacket(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled)).bytes.bytes)
        pass(.seconds(4))
        command(HCIPacket(LESetAdvertisingEnable(isEnabled: true)).bytes.bytes)
    }

    static var seeds: [[UInt8]] {
        let all = HCICommandRegistry.all.map { HCIPacket($0.init()).bytes.bytes }
        var session: [UInt8] = []
        for packet in Recording.session.hostPackets.prefix(60) {
            session += step(packet.kind == .acl ? 2 : 0, packet.bytes) + [0x1F]
        }
        return all.map { step(0, $0) + [0xFF] } + [session, connecting]
    }

    /// The steps that connect to the honest device.
    private static var connecting: [UInt8] {
        var create = LECreateConnection()
        create.scanInterval = 16
        create.scanWindow = 16
        create.peerAddress = BluetoothAddress(2, kind: .publicDevice)
        (create.intervalMin, create.intervalMax, create.supervisionTimeout) = (24, 24, 100)
        let data = ACLPacket(
            handle: ConnectionHandle(rawValue: 1),
            boundary: .startNonFlushable,
            payload: [3, 0, 4, 0, 2, 23, 0]
        )
        let aWhile = [UInt8](repeating: 0xFF, count: 6)
        return step(0, HCIPacket(create).bytes) + aWhile + step(2, data.encoded()) + [0xFF]
    }
}
