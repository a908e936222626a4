import BluetoothTypes
import EventLoops
import HCI

/// A state machine for the USB side of a Bluetooth controller (Core Vol 4 Part B). It handles the requests of the USB
/// host and exchanges HCI packets with a controller outside of it.
package struct DongleMachine {
    /// The input of the machine.
    package enum Event: Hashable, Sendable {
        /// The USB host has sent a request.
        case request(USBIPRequest)
        /// The controller has a packet for the host.
        case send(HCIPacket)
    }

    /// The output of the machine.
    package enum Action: Hashable, Sendable {
        /// Send this reply to the USB host.
        case reply(USBIPReply)
        /// The USB host has selected the configuration, after enumeration or a reset of the device. USB/IP has no
        /// message for a reset (USB 2.0 9.1.1.5).
        case configured
        /// Deliver this packet to the controller.
        case deliver(HCIPacket)
        /// The USB host sent octets that are not an HCI packet. No later ones can be parsed.
        case failed
    }

    /// How the USB host has chosen to exchange packets.
    enum Mode: Hashable, Sendable {
        /// A pipe for each packet type.
        case legacy
        /// The bulk endpoints for all packets (Core 6.2 Vol 4 Part B).
        case serialized
    }

    /// The number of packets for the host that were dropped because the queue was full.
    package private(set) var droppedPackets = 0

    let descriptors: DongleDescriptors
    var mode = Mode.legacy
    var isConfigured = false
    var voiceSetting: UInt8 = 0
    private let splitting: RandomSource?
    private var interrupt = DongleInput()
    private var bulk = DongleInput()
    private var output = USBReassembler()

    /// - Parameters:
    ///   - descriptors: The descriptors of the device.
    ///   - splitting: Splits and joins transfers at random. With nil each packet is one transfer, or several if it is
    ///     too long.
    package init(descriptors: DongleDescriptors = DongleDescriptors(), splitting: RandomSource? = nil) {
        self.descriptors = descriptors
        self.splitting = splitting
    }

    /// Handles an event and returns the actions to perform, in order.
    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .send(let packet): return queuePacket(packet)
        case .request(.unlink(let sequence, let transfer)):
            let isUnlinked = interrupt.unlink(transfer) || bulk.unlink(transfer)
            // A host that closes the controller unlinks all its reads, including those that have just completed.
            if !isUnlinked {
                interrupt.abandon()
                bulk.abandon()
            }
            return [.reply(.unlinked(sequence: sequence, status: isUnlinked ? .unlinked : .done))]
        case .request(.submit(let submission)): return submit(submission)
        }
    }

    /// Resets the pipes for a new configuration or alternate setting. Data queued before does not concern its user.
    mutating func begin(_ new: Mode) {
        mode = new
        interrupt.forget()
        bulk.forget()
        output = USBReassembler(isSerialized: new == .serialized)
    }

    // MARK: From the controller

    private mutating func queuePacket(_ packet: HCIPacket) -> [Action] {
        var hasRoom = false
        switch (mode, packet.kind) {
        case (.serialized, _): hasRoom = bulk.enqueue([packet.kind.rawValue] + packet.bytes.bytes)
        case (.legacy, .event): hasRoom = interrupt.enqueue(packet.bytes.bytes)
        case (.legacy, .acl): hasRoom = bulk.enqueue(packet.bytes.bytes)
        // No pipe is defined for the other types (Core Vol 4 Part B 2.1).
        case (.legacy, _): break
        }
        if !hasRoom { droppedPackets += 1 }
        return answers()
    }

    private mutating func answers() -> [Action] {
        (interrupt.replies(splitting: splitting) + bulk.replies(splitting: splitting)).map(Action.reply)
    }

    // MARK: From the USB host

    private mutating func submit(_ submission: USBIPSubmission) -> [Action] {
        switch (submission.endpoint, submission.isIn, mode) {
        case (0, _, _): return control(submission)
        case (1, true, .legacy):
            guard interrupt.ask(submission.sequence, length: submission.length) else { return stall(submission) }
            return answers()
        case (2, true, _):
            guard bulk.ask(submission.sequence, length: submission.length) else { return stall(submission) }
            return answers()
        case (2, false, _): return receive(submission)
        // The endpoint does not exist or is not used.
        default: return stall(submission)
        }
    }

    private mutating func receive(_ submission: USBIPSubmission) -> [Action] {
        let packets = output.reassemble(submission.octets, from: .bulk)
        let actions = [done(submission, [])] + packets.map(Action.deliver)
        return output.failure == nil ? actions : actions + [.failed]
    }

    private mutating func control(_ submission: USBIPSubmission) -> [Action] {
        let setup = submission.setup
        // The direction of the request and of the transfer must match (USB 2.0 9.3.1).
        guard (setup.requestType & 0x80 != 0) == submission.isIn || submission.length == 0 else {
            return stall(submission)
        }
        if setup.requestType & 0x60 == 0x20 { return command(submission) }
        guard let answer = answer(to: setup) else { return stall(submission) }
        let reply = done(submission, Array(answer.prefix(min(Int(setup.size), submission.length))))
        return setup.isConfiguring ? [reply, .configured] : [reply]
    }

    /// Handles a command: a class request to the device, or to the interface if the device is more than a controller
    /// (Core Vol 4 Part B 2.2).
    private func command(_ submission: USBIPSubmission) -> [Action] {
        let octets = submission.octets
        guard [0x20, 0x21].contains(submission.setup.requestType), submission.setup.request == 0, mode == .legacy,
            octets.count >= 3, octets.count == 3 + Int(octets[2])
        else { return stall(submission) }
        return [done(submission, []), .deliver(HCIPacket(.command, PacketBuffer(octets)))]
    }

    private func done(_ submission: USBIPSubmission, _ octets: [UInt8]) -> Action {
        let length = submission.isIn ? octets.count : submission.octets.count
        return .reply(
            .submitted(
                sequence: submission.sequence,
                status: .done,
                length: length,
                octets: submission.isIn ? octets : []
            )
        )
    }

    private func stall(_ submission: USBIPSubmission) -> [Action] {
        [.reply(.submitted(sequence: submission.sequence, status: .stalled, length: 0, octets: []))]
    }
}
