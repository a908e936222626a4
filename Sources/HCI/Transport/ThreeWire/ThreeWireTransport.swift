import BluetoothTypes
import EventLoops

/// HCI over a line that may lose octets, or change them: the three-wire UART transport (Core Vol 4 Part D). Lives on its loop.
package final class ThreeWireTransport: HCITransport {
    /// How long an end waits for an acknowledgement before it sends again. Above three times what the longest packet takes at 1 Mbit/s, and
    /// what Linux has.
    static let acknowledgementTime = Duration.milliseconds(250)
    /// How often this end begins (Core Vol 4 Part D 8.4).
    static let handshakeTime = Duration.milliseconds(250)
    /// How often an end that sleeps is woken.
    static let wakingTime = Duration.milliseconds(50)
    /// Reliable packets that this end has room for before it acknowledges the first.
    static let window = 4

    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { line.place }
    /// Frames that were left out, since a check was wrong or they could not be packets.
    package private(set) var damagedFrames = 0

    private let line: any OctetLine
    private let loop: any EventLoop
    private var machine: ThreeWireMachine
    private var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
    private var timer: ScheduledTask?
    private var isOpen = true

    /// Begins to bring a line up; what is sent meanwhile waits. On the loop.
    ///
    /// - Parameter waitsForPeer: Whether the other end may come however late, as a host does to a controller.
    package init(_ line: any OctetLine, waitsForPeer: Bool = false, loop: any EventLoop) {
        self.line = line
        self.loop = loop
        machine = ThreeWireMachine(
            own: ThreeWireConfiguration(window: Self.window, isChecked: true),
            waitsForPeer: waitsForPeer
        )
        line.onReceive = { [weak self] in self?.receive($0) }
        line.onClose = { [weak self] in self?.lost($0) }
        perform(machine.handle(.opened))
    }

    deinit {
        if let timer { loop.cancel(timer) }
    }

    /// Sends a packet, now or when the line is up.
    package func send(_ packet: HCIPacket) { perform(machine.handle(.send(packet))) }

    /// Tells the other end that this one sleeps until it is woken.
    package func sleep() { perform(machine.handle(.sleep)) }

    /// Closes the line.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        set(nil)
        line.close()
    }

    private func receive(_ octets: [UInt8]) {
        for frame in decoder.take(octets) {
            do throws(PacketError) {
                perform(machine.handle(.received(try ThreeWirePacket(frame: frame))))
            } catch {
                damagedFrames += 1
            }
        }
        perform(machine.handle(.receivedAll))
    }

    private func perform(_ actions: [ThreeWireMachine.Action]) {
        for action in actions where isOpen {
            switch action {
            case .transmit(let packet): line.send(PacketBuffer(SLIP.encode(packet.frame)))
            case .deliver(let packet): onReceive?(packet)
            case .setTimer(let timer): set(timer)
            // What fails in `send` is not reported from inside it.
            case .failed(let failure):
                loop.execute { [weak self] in self?.lost(.failed(reason: failure.words)) }
            }
        }
    }

    private func set(_ new: ThreeWireMachine.Timer?) {
        if let timer { loop.cancel(timer) }
        timer = new.map { new in
            loop.schedule(after: new.time) { [weak self] in
                guard let self else { return }
                timer = nil
                perform(machine.handle(.timeIsUp))
            }
        }
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        close()
        onClose?(error)
    }
}

extension ThreeWireMachine.Timer {
    fileprivate var time: Duration {
        switch self {
        case .handshake: ThreeWireTransport.handshakeTime
        case .acknowledgement: ThreeWireTransport.acknowledgementTime
        case .woken: ThreeWireTransport.wakingTime
        }
    }
}

extension ThreeWireMachine.Failure {
    fileprivate var words: String {
        switch self {
        case .noAnswer:
            "nobody speaks the three-wire protocol there; check the baud rate, the wires and whether it is H4 instead"
        case .noAcknowledgement: "what was sent was not acknowledged for five seconds"
        case .peerReset: "the controller has begun anew"
        case .tooMuchWaiting: "more packets wait than a controller ever takes"
        case .packetTooLong(let length): "a packet of \(length) octets is too long for the three-wire transport"
        }
    }
}
