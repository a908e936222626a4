import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// The controller's end of a USB transport, where the controller is a dongle in software: the peer is a kernel that
/// sees a USB device. Lives on its loop.
package final class DongleTransport: HCITransport {
    /// The maximum number of delayed events. Further events are dropped.
    static let maximumLate = 4_096

    /// The dongle's configuration, including faults to simulate.
    package struct Behaviour: Sendable {
        /// The USB descriptors that the dongle reports.
        package var descriptors: DongleDescriptors
        /// How long events are delayed. Data is not delayed with them, so events and data arrive out of order, for
        /// which USB controllers are known.
        package var eventDelay: Duration
        /// The seed for splitting and joining transfers at random; nil to send each packet as one transfer.
        package var splitSeed: UInt64?
        /// The number of commands after which the dongle stops responding, like one whose firmware hangs, until the
        /// host resets its port. Happens once; nil for never.
        package var muteAfter: Int?

        /// By default the dongle behaves well.
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

    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once, when the host has detached the dongle.
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { line.place }
    /// Called when the dongle stops responding, and when it recovers.
    package var onMuteChange: ((_ isMute: Bool) -> Void)?

    private let line: any OctetLine
    private let loop: any EventLoop
    private let eventDelay: Duration
    private var machine: DongleMachine
    private var parser = USBIPParser()
    private var late = Deque<HCIPacket>()
    private var isOpen = true
    /// The number of commands left until the dongle stops responding; nil for no limit.
    private var commandsLeft: Int?
    private var isMute = false

    /// Starts to serve the socket that ``VirtualPort/plug(in:)`` returned. On the loop only.
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

    /// Sends a packet to the host. Events are delayed as configured.
    package func send(_ packet: HCIPacket) {
        guard isOpen, !isMute else { return }
        guard packet.kind == .event, eventDelay > .zero else { return perform(machine.handle(.send(packet))) }
        guard late.count < Self.maximumLate else { return }
        late.append(packet)
        // All events have the same delay, so they stay in order.
        loop.schedule(after: eventDelay) { [weak self] in self?.sendLate() }
    }

    private func sendLate() {
        guard isOpen, let packet = late.popFirst(), !isMute else { return }
        perform(machine.handle(.send(packet)))
    }

    /// Unplugs the dongle. Events that are still delayed are dropped.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        late.removeAll()
        line.close()
    }

    private func receive(_ octets: [UInt8]) {
        for request in parser.parse(octets) where isOpen { perform(machine.handle(.request(request))) }
        if let failure = parser.failure { lost(.malformed(failure)) }
    }

    private func perform(_ actions: [DongleMachine.Action]) {
        var said: [UInt8] = []
        var (packets, hasFailed) = ([HCIPacket](), false)
        for action in actions {
            switch action {
            case .reply(let reply): said += reply.octets
            case .configured: unmute()
            case .deliver(let packet): if accepts(packet) { packets.append(packet) }
            case .failed: hasFailed = true
            }
        }
        if !said.isEmpty { line.send(PacketBuffer(said)) }
        for packet in packets where isOpen { onReceive?(packet) }
        if hasFailed { lost(.malformed(PacketError(.value(0), at: "packet in a transfer"))) }
    }

    /// Whether a packet reaches the controller. Counts commands down and mutes the dongle when none are left.
    private func accepts(_ packet: HCIPacket) -> Bool {
        guard !isMute else { return false }
        guard packet.kind == .command, let left = commandsLeft else { return true }
        commandsLeft = left > 0 ? left - 1 : nil
        guard left == 0 else { return true }
        isMute = true
        onMuteChange?(true)
        return false
    }

    /// Called when the host has reset the port: the dongle responds again.
    private func unmute() {
        guard isMute else { return }
        isMute = false
        onMuteChange?(false)
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        close()
        onClose?(error)
    }
}
