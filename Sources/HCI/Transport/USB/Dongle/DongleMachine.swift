import BluetoothTypes
import EventLoops

/// A Bluetooth controller's side of USB, as a machine: what a computer asks of the device goes in, what the device says comes out
/// (Core Vol 4 Part B). The controller itself is elsewhere, and packets go to it and come from it.
package struct DongleMachine {
    /// What goes in.
    package enum Event: Hashable, Sendable {
        /// The computer asks for something.
        case request(USBIPRequest)
        /// The controller has a packet for the host.
        case send(HCIPacket)
    }

    /// What comes out.
    package enum Action: Hashable, Sendable {
        /// The computer hears this.
        case reply(USBIPReply)
        /// The computer has chosen the configuration: it has just found the device, or has just reset it. USB/IP has no other word for a reset
        /// (USB 2.0 9.1.1.5).
        case configured
        /// The controller gets this packet.
        case deliver(HCIPacket)
        /// Octets that are no packet: there is nothing more to be understood.
        case failed
    }

    /// How packets are carried, which the computer chooses.
    enum Mode: Hashable, Sendable {
        /// Each kind by a pipe of its own.
        case legacy
        /// All of them by bulk endpoints (Core 6.2 Vol 4 Part B).
        case serialized
    }

    /// Packets for the host that there was no room for.
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
    ///   - descriptors: What it says of itself.
    ///   - splitting: Cuts and joins transfers by lot; nil where each packet is one, or several where it is too long.
    package init(descriptors: DongleDescriptors = DongleDescriptors(), splitting: RandomSource? = nil) {
        self.descriptors = descriptors
        self.splitting = splitting
    }

    /// Takes an event, and says what to do.
    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .send(let packet): return say(packet)
        case .request(.unlink(let sequence, let transfer)):
            let isUnlinked = interrupt.unlink(transfer) || bulk.unlink(transfer)
            // A host ends all its reads when it is done with the controller, also those that have just come back.
            if !isUnlinked {
                interrupt.abandon()
                bulk.abandon()
            }
            return [.reply(.unlinked(sequence: sequence, status: isUnlinked ? .unlinked : .done))]
        case .request(.submit(let submission)): return submit(submission)
        }
    }

    /// Begins with a configuration or a setting: what was said before is nothing to whoever chose it.
    mutating func begin(_ new: Mode) {
        mode = new
        interrupt.forget()
        bulk.forget()
        output = USBReassembler(isSerialized: new == .serialized)
    }

    // MARK: From the controller

    private mutating func say(_ packet: HCIPacket) -> [Action] {
        var hasRoom = false
        switch (mode, packet.kind) {
        case (.serialized, _): hasRoom = bulk.say([packet.kind.rawValue] + packet.bytes.bytes)
        case (.legacy, .event): hasRoom = interrupt.say(packet.bytes.bytes)
        case (.legacy, .acl): hasRoom = bulk.say(packet.bytes.bytes)
        // Not defined there (Core Vol 4 Part B 2.1).
        case (.legacy, _): break
        }
        if !hasRoom { droppedPackets += 1 }
        return answers()
    }

    private mutating func answers() -> [Action] {
        (interrupt.replies(splitting: splitting) + bulk.replies(splitting: splitting)).map(Action.reply)
    }

    // MARK: From the computer

    private mutating func submit(_ submission: USBIPSubmission) -> [Action] {
        switch (submission.endpoint, submission.isIn, mode) {
        case (0, _, _): return control(submission)
        case (1, true, .legacy):
            guard interrupt.ask(submission.sequence, length: submission.length) else { return stall(submission) }
            return answers()
        case (2, true, _):
            guard bulk.ask(submission.sequence, length: submission.length) else { return stall(submission) }
            return answers()
        case (2, false, _): return take(submission)
        // There is no such endpoint, or nothing is done there.
        default: return stall(submission)
        }
    }

    private mutating func take(_ submission: USBIPSubmission) -> [Action] {
        let packets = output.take(submission.octets, from: .bulk)
        let actions = [done(submission, [])] + packets.map(Action.deliver)
        return output.failure == nil ? actions : actions + [.failed]
    }

    private mutating func control(_ submission: USBIPSubmission) -> [Action] {
        let setup = submission.setup
        // The two ends have to mean the same direction (USB 2.0 9.3.1).
        guard (setup.requestType & 0x80 != 0) == submission.isIn || submission.length == 0 else {
            return stall(submission)
        }
        if setup.requestType & 0x60 == 0x20 { return command(submission) }
        guard let answer = answer(to: setup) else { return stall(submission) }
        let reply = done(submission, Array(answer.prefix(min(Int(setup.size), submission.length))))
        return setup.isConfiguring ? [reply, .configured] : [reply]
    }

    /// A command, which is a request of the class to the device, or to the interface where the device is more than a controller
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
