import BluetoothTypes
import DequeModule
import HCI

/// A state machine for one end of a three-wire link (Core Vol 4 Part D). It establishes the link, numbers packets,
/// retransmits them until they are acknowledged, and wakes a sleeping peer.
struct ThreeWireMachine {
    /// The link establishment states (Core Vol 4 Part D 8.4).
    enum State: Hashable {
        case uninitialized
        case initialized
        case active
    }

    enum Event {
        case opened
        case received(ThreeWirePacket)
        /// All packets of a batch have been received. Sends an acknowledgement if one is due and no packet has carried
        /// it.
        case receivedAll
        case send(HCIPacket)
        /// This end goes to sleep until the peer wakes it or it has something to send.
        case sleep
        case timeIsUp
    }

    enum Action: Hashable {
        case transmit(ThreeWirePacket)
        case deliver(HCIPacket)
        /// Replaces the running timer; nil cancels it.
        case setTimer(Timer?)
        case failed(Failure)
    }

    /// The reason for which the timer runs.
    enum Timer: Hashable {
        /// The answer to a link establishment message, repeated every 250 ms (Core Vol 4 Part D 8.4).
        case handshake
        /// An acknowledgement of a reliable packet.
        case acknowledgement
        /// The answer of a sleeping peer to WAKEUP, repeated every 50 ms.
        case woken
    }

    /// The reason for which the link has failed.
    enum Failure: Hashable {
        case noAnswer
        case noAcknowledgement
        /// The peer has restarted link establishment (Core Vol 4 Part D 8.4) and lost its state.
        case peerReset
        case tooMuchWaiting
        case packetTooLong(Int)
    }

    /// The number of transmissions without an answer after which the link fails: ten seconds for link establishment,
    /// five on an active link.
    static let maximumAttempts: [Timer: Int] = [.handshake: 40, .acknowledgement: 20, .woken: 100]
    /// The maximum number of queued packets (AB-G05). The controller's credits keep a host below it.
    static let maximumWaiting = 1_024

    let own: ThreeWireConfiguration
    /// Whether the peer may appear at any later time, so that link establishment has no time-out.
    let waitsForPeer: Bool
    private(set) var state = State.uninitialized
    /// The configuration agreed with the peer.
    private(set) var agreed = ThreeWireConfiguration(window: 1, isChecked: false)
    private var attempts: [Timer: Int] = [:]
    private var timer: Timer?
    private var waiting = Deque<HCIPacket>()
    /// The packets sent and not acknowledged, the oldest first. The sequence number of the first is ``base``.
    private var unacknowledged = Deque<HCIPacket>()
    private var base: UInt8 = 0
    private var expected: UInt8 = 0
    private var owesAcknowledgement = false
    private var isPeerAsleep = false
    private var isOver = false

    init(own: ThreeWireConfiguration, waitsForPeer: Bool = false) {
        self.own = own
        self.waitsForPeer = waitsForPeer
    }

    /// Handles an event and returns the actions to perform, in order.
    mutating func handle(_ event: Event) -> [Action] {
        guard !isOver else { return [] }
        switch event {
        case .opened: return transmitMessage(.sync) + begin(.handshake)
        case .received(let packet): return receive(packet)
        case .receivedAll:
            guard owesAcknowledgement else { return [] }
            return [transmit(ThreeWirePacket(.acknowledgement))]
        case .send(let packet):
            let length = packet.bytes.count
            guard length <= ThreeWirePacket.maximumPayload else { return fail(.packetTooLong(length)) }
            guard waiting.count < Self.maximumWaiting else { return fail(.tooMuchWaiting) }
            waiting.append(packet)
            return sendWaiting()
        case .sleep: return state == .active ? transmitMessage(.sleep) : []
        case .timeIsUp: return repeatAwaitedMessage()
        }
    }

    // MARK: Timers

    private mutating func begin(_ new: Timer?) -> [Action] { new == timer ? [] : restart(new) }

    private mutating func restart(_ new: Timer?) -> [Action] {
        timer = new
        attempts = [:]
        return [.setTimer(new)]
    }

    private mutating func repeatAwaitedMessage() -> [Action] {
        guard let timer else { return [] }
        if !(waitsForPeer && timer == .handshake) { attempts[timer, default: 0] += 1 }
        guard attempts[timer, default: 0] < Self.maximumAttempts[timer, default: 0] else {
            return fail(timer == .handshake ? .noAnswer : .noAcknowledgement)
        }
        let again: [Action]
        switch (timer, state) {
        case (.handshake, .uninitialized): again = transmitMessage(.sync)
        case (.handshake, _): again = transmitMessage(.configuration(own))
        case (.woken, _): again = transmitMessage(.wakeUp)
        case (.acknowledgement, _) where isPeerAsleep: return transmitMessage(.wakeUp) + begin(.woken)
        case (.acknowledgement, _):
            again = unacknowledged.enumerated().map { transmit(reliable: $1, base &+ UInt8($0)) }
        }
        return again + [.setTimer(timer)]
    }

    private mutating func fail(_ failure: Failure) -> [Action] {
        isOver = true
        return [.setTimer(nil), .failed(failure)]
    }

    // MARK: Sending

    private mutating func transmitMessage(_ message: ThreeWireMessage) -> [Action] {
        var packet = ThreeWirePacket(.linkControl, message.payload)
        // Before the configuration is agreed, the peer does not read data integrity checks.
        packet.isChecked = state == .active && agreed.isChecked
        return [.transmit(packet)]
    }

    private mutating func transmit(_ packet: ThreeWirePacket) -> Action {
        var packet = packet
        packet.acknowledgement = expected
        packet.isChecked = agreed.isChecked && !packet.payload.isEmpty
        owesAcknowledgement = false
        return .transmit(packet)
    }

    private mutating func transmit(reliable packet: HCIPacket, _ number: UInt8) -> Action {
        var carrier = ThreeWirePacket(ThreeWirePacket.Kind(packet.kind), packet.bytes.bytes)
        (carrier.isReliable, carrier.sequence) = (true, number & 7)
        return transmit(carrier)
    }

    private mutating func sendWaiting() -> [Action] {
        guard state == .active else { return [] }
        guard !isPeerAsleep else {
            return waiting.isEmpty || timer == .woken ? [] : transmitMessage(.wakeUp) + begin(.woken)
        }
        var actions: [Action] = []
        while let packet = waiting.first {
            if packet.kind.isReliable {
                guard unacknowledged.count < agreed.window else { break }
                actions.append(transmit(reliable: packet, base &+ UInt8(unacknowledged.count)))
                unacknowledged.append(packet)
            } else {
                actions.append(transmit(ThreeWirePacket(ThreeWirePacket.Kind(packet.kind), packet.bytes.bytes)))
            }
            waiting.removeFirst()
        }
        return actions + begin(unacknowledged.isEmpty ? nil : .acknowledgement)
    }

    // MARK: Receiving

    private mutating func receive(_ packet: ThreeWirePacket) -> [Action] {
        if packet.kind == .linkControl { return ThreeWireMessage(packet.payload).map { receiveMessage($0) } ?? [] }
        guard state == .active else { return [] }
        let acknowledged = receive(acknowledgement: packet.acknowledgement)
        var delivered: [Action] = []
        if packet.isReliable {
            // The acknowledgement with the expected number requests a packet again that arrived out of order (Core Vol
            // 4 Part D 4.2).
            owesAcknowledgement = true
            guard packet.sequence == expected else { return acknowledged }
            expected = (expected + 1) & 7
        }
        // The types of HCI packets are the same as in H4; the others belong to the transport.
        if let kind = HCIPacket.Kind(rawValue: packet.kind.rawValue) {
            delivered = [.deliver(HCIPacket(kind, PacketBuffer(packet.payload)))]
        }
        return delivered + acknowledged
    }

    private mutating func receive(acknowledgement number: UInt8) -> [Action] {
        let count = Int((number &- base) & 7)
        // An acknowledgement of packets that were not sent is invalid.
        guard count > 0, count <= unacknowledged.count else { return [] }
        unacknowledged.removeFirst(count)
        base = number
        return restart(unacknowledged.isEmpty ? nil : .acknowledgement) + sendWaiting()
    }

    private mutating func receiveMessage(_ message: ThreeWireMessage) -> [Action] {
        switch (message, state) {
        case (.sync, .active): return fail(.peerReset)
        case (.sync, _): return transmitMessage(.syncResponse)
        case (.syncResponse, .uninitialized):
            state = .initialized
            attempts = [:]
            return transmitMessage(.configuration(own))
        case (.syncResponse, _): return []
        case (.configuration, .uninitialized): return []
        case (.configuration(let theirs), _): return transmitMessage(.configurationResponse(own.common(theirs)))
        case (.configurationResponse(let agreed), .initialized):
            self.agreed = own.common(agreed)
            state = .active
            return begin(nil) + sendWaiting()
        case (.configurationResponse, _): return []
        case (.wakeUp, .active):
            isPeerAsleep = false
            return transmitMessage(.woken) + sendWaiting()
        case (.woken, .active):
            guard isPeerAsleep else { return [] }
            isPeerAsleep = false
            return begin(nil) + sendWaiting()
        case (.sleep, .active):
            isPeerAsleep = true
            return []
        case (.wakeUp, _), (.woken, _), (.sleep, _): return []
        }
    }
}

extension HCIPacket.Kind {
    /// Whether packets of this type are retransmitted. Late voice and audio data is of no use (Core Vol 4 Part D 4.3).
    fileprivate var isReliable: Bool {
        switch self {
        case .command, .acl, .event: true
        case .synchronous, .isochronous: false
        }
    }
}

extension ThreeWirePacket.Kind {
    fileprivate init(_ kind: HCIPacket.Kind) {
        switch kind {
        case .command: self = .command
        case .acl: self = .acl
        case .synchronous: self = .synchronous
        case .event: self = .event
        case .isochronous: self = .isochronous
        }
    }
}
