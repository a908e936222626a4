import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// A transport between a virtual controller and its host that adds quirks. The controller behind it follows the
/// specification; the transport rewrites, delays, reorders or drops packets.
final class QuirkLine: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?

    /// The maximum delay of an event, in microseconds.
    static let longestLag: UInt64 = 20_000
    /// How long broken firmware works after a reset.
    static let degradedAfter = Duration.milliseconds(50)
    /// The maximum number of delayed events; beyond it they are sent at once.
    static let maximumLate = 256

    /// How often each quirk has occurred.
    private(set) var shown: [ControllerQuirk: Int] = [:]

    private let line: any HCITransport
    private let quirks: Set<ControllerQuirk>
    private let loop: any EventLoop
    private let random: RandomSource
    private var commands: QuirkCommands
    private var events: QuirkEvents
    private var late = Deque<HCIPacket>()
    private var lateness: ControllerQuirk?
    private var heldConnection: HCIPacket?
    private var isInjecting = false

    init(_ line: any HCITransport, _ quirks: Set<ControllerQuirk>, loop: any EventLoop, random: RandomSource) {
        self.line = line
        self.quirks = quirks
        self.loop = loop
        self.random = random
        commands = QuirkCommands(quirks)
        events = QuirkEvents(quirks)
        line.onReceive = { [weak self] in self?.fromHost($0) }
        line.onClose = { [weak self] in self?.onClose?($0) }
    }

    var place: String { line.place }

    func close() { line.close() }

    // MARK: Packets from the host

    private func fromHost(_ packet: HCIPacket) {
        for action in commands.handle(packet) {
            switch action {
            case .pass(let packet): onReceive?(packet)
            case .answer(let packet): send(packet)
            case .inject(let packet):
                isInjecting = true
                onReceive?(packet)
                isInjecting = false
            case .show(let quirk): show(quirk)
            case .wasReset: wasReset()
            }
        }
    }

    private func wasReset() {
        events.reset()
        if quirks.contains(.debugTextAsData) { sendDebugText(times: 1) }
        guard quirks.contains(.degraded) else { return }
        loop.schedule(after: Self.degradedAfter) { [weak self] in
            self?.show(.degraded)
            self?.line.send(HCIPacket(HardwareError(code: 0x16)))
        }
    }

    private func show(_ quirk: ControllerQuirk) { shown[quirk, default: 0] += 1 }

    // MARK: Packets to the host

    func send(_ packet: HCIPacket) {
        guard packet.kind == .event, let event = try? EventPacket(reading: packet.bytes) else { return pass(packet) }
        // The response to an injected command, which the host has not sent.
        if isInjecting, event.code == CommandComplete.eventCode { return }
        commands.note(event)
        for action in events.handle(packet, event) {
            switch action {
            case .pass(let packet, let kind): forward(packet, kind)
            case .show(let quirk): show(quirk)
            }
        }
    }

    private func forward(_ packet: HCIPacket, _ kind: QuirkEvents.Kind) {
        if kind == .connection || kind == .connectionToSet, quirks.contains(.debugTextAsData) {
            sendDebugText(times: 9)
        }
        switch kind {
        case .connectionToSet where quirks.contains(.setEndBeforeConnection):
            heldConnection = packet
            // Only the end of a set reported at the same instant precedes it.
            loop.execute { [weak self] in self?.releaseConnection() }
        case .setEnd where heldConnection != nil:
            show(.setEndBeforeConnection)
            put(packet, nil)
            releaseConnection()
        case .connection, .connectionToSet: put(packet, .dataBeforeConnection)
        case .encryption: put(packet, .dataBeforeEncryption)
        case .setEnd, .other: put(packet, nil)
        }
    }

    private func releaseConnection() {
        guard let packet = heldConnection else { return }
        heldConnection = nil
        put(packet, .dataBeforeConnection)
    }

    /// Sends an event, delayed if earlier events are being delayed, or if `quirk` is configured.
    private func put(_ packet: HCIPacket, _ quirk: ControllerQuirk?) {
        if late.isEmpty {
            guard let quirk, quirks.contains(quirk) else { return line.send(packet) }
            lateness = quirk
            loop.schedule(after: .microseconds(Int64(random.below(Self.longestLag + 1)))) { [weak self] in
                self?.sendLate()
            }
        }
        late.append(packet)
        if late.count > Self.maximumLate { sendLate() }
    }

    private func sendLate() {
        lateness = nil
        let packets = late
        late = []
        for packet in packets { line.send(packet) }
    }

    /// Sends data, which overtake delayed events.
    private func pass(_ packet: HCIPacket) {
        if let lateness { show(lateness) }
        line.send(packet)
    }

    private func sendDebugText(times: Int) {
        for number in 0..<times {
            show(.debugTextAsData)
            let text = PacketBuffer(Array("wlan/bt coex state \(number)".utf8))
            let handle = ConnectionHandle(rawValue: QuirkEvents.debugHandle)
            line.send(HCIPacket(ACLPacket(handle: handle, boundary: .start, payload: text)))
        }
    }
}
