import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// A controller's end of a line that goes over USB, where the controller is a dongle in software: at the other end of the octets is a
/// kernel that takes it for a USB device. Lives on its loop.
package final class DongleTransport: HCITransport {
    /// Events that may wait to be late.
    static let maximumLate = 4_096

    /// How a dongle does its part.
    package struct Behaviour: Sendable {
        /// What it says of itself.
        package var descriptors: DongleDescriptors
        /// How late events come. Data does not wait for them, which is what controllers on USB are known for.
        package var eventDelay: Duration
        /// What the lot follows from that cuts and joins transfers; nil where packets are transfers.
        package var splitSeed: UInt64?
        /// After how many commands it takes all and says nothing, as one whose firmware hangs, until the computer resets its port; once. Nil for
        /// one that does not.
        package var muteAfter: Int?

        /// A dongle that does its part well, unless told otherwise.
        package init(
            descriptors: DongleDescriptors = DongleDescriptors(),
            eventDelay: Duration = .zero,
            splitSeed: UInt64? = nil,
            muteAfter: Int? = nil
        ) {
            (self.descriptors, self.eventDelay, self.splitSeed) = (descriptors, eventDelay, splitSeed)
            self.muteAfter = muteAfter
        }
    }

    /// Takes each packet from the host.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the dongle has been unplugged.
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { line.place }
    /// Called when it falls mute, and when it speaks again.
    package var onSpeech: ((_ isMute: Bool) -> Void)?

    private let line: any OctetLine
    private let loop: any EventLoop
    private let eventDelay: Duration
    private var machine: DongleMachine
    private var parser = USBIPParser()
    private var late = Deque<HCIPacket>()
    private var isOpen = true
    /// Commands that it takes before it falls mute.
    private var commandsLeft: Int?
    private var isMute = false

    /// Begins to answer at the end of a socket that ``VirtualPort`` has given. On the loop.
    package init(_ line: any OctetLine, behaviour: Behaviour = Behaviour(), loop: any EventLoop) {
        self.line = line
        self.loop = loop
        eventDelay = behaviour.eventDelay
        commandsLeft = behaviour.muteAfter
        machine = DongleMachine(
            descriptors: behaviour.descriptors,
            splitting: behaviour.splitSeed.map { RandomSource(seed: $0) }
        )
        line.onReceive = { [weak self] in self?.receive($0) }
        line.onClose = { [weak self] in self?.lost($0) }
    }

    /// Sends a packet to the host, events as late as they are to be.
    package func send(_ packet: HCIPacket) {
        guard isOpen, !isMute else { return }
        guard packet.kind == .event, eventDelay > .zero else { return perform(machine.handle(.send(packet))) }
        guard late.count < Self.maximumLate else { return }
        late.append(packet)
        // All have the same way to go, so they come in order.
        loop.schedule(after: eventDelay) { [weak self] in self?.sendLate() }
    }

    private func sendLate() {
        guard isOpen, let packet = late.popFirst(), !isMute else { return }
        perform(machine.handle(.send(packet)))
    }

    /// Unplugs the dongle.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        late.removeAll()
        line.close()
    }

    private func receive(_ octets: [UInt8]) {
        for request in parser.take(octets) where isOpen { perform(machine.handle(.request(request))) }
        if let failure = parser.failure { lost(.malformed(failure)) }
    }

    private func perform(_ actions: [DongleMachine.Action]) {
        var said: [UInt8] = []
        var (packets, hasFailed) = ([HCIPacket](), false)
        for action in actions {
            switch action {
            case .reply(let reply): said += reply.octets
            case .configured: speak()
            case .deliver(let packet): if hears(packet) { packets.append(packet) }
            case .failed: hasFailed = true
            }
        }
        if !said.isEmpty { line.send(PacketBuffer(said)) }
        for packet in packets where isOpen { onReceive?(packet) }
        if hasFailed { lost(.malformed(PacketError(.value(0), at: "packet in a transfer"))) }
    }

    /// Whether the controller gets a packet.
    private func hears(_ packet: HCIPacket) -> Bool {
        guard !isMute else { return false }
        guard packet.kind == .command, let left = commandsLeft else { return true }
        commandsLeft = left > 0 ? left - 1 : nil
        guard left == 0 else { return true }
        isMute = true
        onSpeech?(true)
        return false
    }

    /// Its port has been reset.
    private func speak() {
        guard isMute else { return }
        isMute = false
        onSpeech?(false)
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        close()
        onClose?(error)
    }
}
