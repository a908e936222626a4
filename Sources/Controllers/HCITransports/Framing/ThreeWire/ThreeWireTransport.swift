import BluetoothTypes
import EventLoops
import HCI

/// The three-wire UART transport: HCI over a byte stream that may lose or alter octets (Core Vol 4 Part D). Use it on
/// its event loop only.
package final class ThreeWireTransport: HCITransport {
    /// The time without an acknowledgement after which packets are retransmitted. It exceeds three times the duration
    /// of the longest packet at 1 Mbit/s and is the value that Linux uses.
    static let acknowledgementTime = Duration.milliseconds(250)
    /// The interval between two link establishment messages (Core Vol 4 Part D 8.4).
    static let handshakeTime = Duration.milliseconds(250)
    /// The interval between two WAKEUP messages.
    static let wakingTime = Duration.milliseconds(50)
    /// The sliding window that this end offers, in packets.
    static let window = 4

    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { line.place }
    /// The number of frames dropped because a check was wrong or they were not valid packets.
    package private(set) var damagedFrames = 0

    private let line: any OctetLine
    private let loop: any EventLoop
    private var machine: ThreeWireMachine
    private var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
    private var timer: ScheduledTask?
    private var isOpen = true

    /// Creates a transport and starts link establishment. Packets sent before the link is active wait. Call it on the
    /// event loop.
    ///
    /// - Parameters:
    ///   - line: The byte stream, whose callbacks are replaced.
    ///   - waitsForPeer: Whether the peer may appear at any later time, as the host does for a controller.
    ///   - loop: The event loop of `line`.
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

    /// Sends a packet, or queues it until the link is active and the window permits it.
    package func send(_ packet: HCIPacket) { perform(machine.handle(.send(packet))) }

    /// Notifies the peer that this end sleeps until it is woken.
    package func sleep() { perform(machine.handle(.sleep)) }

    /// Closes the transport and its byte stream.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        set(nil)
        line.close()
    }

    private func receive(_ octets: [UInt8]) {
        for frame in decoder.decode(octets) {
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
            // A failure in `send` must not be reported from within `send`.
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
            "no answer in the three-wire protocol; check the baud rate, the wiring and whether the device uses H4"
        case .noAcknowledgement: "no packet was acknowledged for five seconds"
        case .peerReset: "the controller has restarted the link"
        case .tooMuchWaiting: "the packet queue is full"
        case .packetTooLong(let length): "a packet of \(length) octets is too long for the three-wire transport"
        }
    }
}
