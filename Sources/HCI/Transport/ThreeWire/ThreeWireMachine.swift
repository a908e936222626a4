import BluetoothTypes
import DequeModule

/// One end of a three-wire line (Core Vol 4 Part D): brings it up, numbers packets and sends them until they are acknowledged, and wakes an
/// end that sleeps.
struct ThreeWireMachine {
    /// How far the line is (Core Vol 4 Part D 8.4).
    enum State: Hashable {
        case uninitialized
        case initialized
        case active
    }

    enum Event {
        case opened
        case received(ThreeWirePacket)
        /// All that came at once has been received: what is to be acknowledged is, if nothing went that does.
        case receivedAll
        case send(HCIPacket)
        /// This end goes to sleep until something is to be sent or said to it.
        case sleep
        case timeIsUp
    }

    enum Action: Hashable {
        case transmit(ThreeWirePacket)
        case deliver(HCIPacket)
        /// In place of the one that runs; nil for none.
        case setTimer(Timer?)
        case failed(Failure)
    }

    /// What is waited for.
    enum Timer: Hashable {
        /// An answer to what brings the line up: every 250 ms (Core Vol 4 Part D 8.4).
        case handshake
        /// An acknowledgement.
        case acknowledgement
        /// An end that sleeps: every 50 ms.
        case woken
    }

    /// Why the line is over.
    enum Failure: Hashable {
        case noAnswer
        case noAcknowledgement
        /// The other end has begun anew (Core Vol 4 Part D 8.4): what it knew is gone.
        case peerReset
        case tooMuchWaiting
        case packetTooLong(Int)
    }

    /// Times that something is said without an answer: for ten seconds to nobody, for five in the middle.
    static let maximumAttempts: [Timer: Int] = [.handshake: 40, .acknowledgement: 20, .woken: 100]
    /// Packets that wait to be sent (AB-G05). A host stays within the credits of its controller.
    static let maximumWaiting = 1_024

    let own: ThreeWireConfiguration
    /// Whether somebody may come who is not there yet, however late.
    let waitsForPeer: Bool
    private(set) var state = State.uninitialized
    /// What the other end lets this one do.
    private(set) var agreed = ThreeWireConfiguration(window: 1, isChecked: false)
    private var attempts: [Timer: Int] = [:]
    private var timer: Timer?
    private var waiting = Deque<HCIPacket>()
    /// Sent and not acknowledged, the oldest first; its number is ``base``.
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

    /// What is to be done now.
    mutating func handle(_ event: Event) -> [Action] {
        guard !isOver else { return [] }
        switch event {
        case .opened: return say(.sync) + begin(.handshake)
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
        case .sleep: return state == .active ? say(.sleep) : []
        case .timeIsUp: return repeatWhatIsWaitedFor()
        }
    }

    // MARK: Timers

    private mutating func begin(_ new: Timer?) -> [Action] { new == timer ? [] : restart(new) }

    private mutating func restart(_ new: Timer?) -> [Action] {
        timer = new
        attempts = [:]
        return [.setTimer(new)]
    }

    private mutating func repeatWhatIsWaitedFor() -> [Action] {
        guard let timer else { return [] }
        if !(waitsForPeer && timer == .handshake) { attempts[timer, default: 0] += 1 }
        guard attempts[timer, default: 0] < Self.maximumAttempts[timer, default: 0] else {
            return fail(timer == .handshake ? .noAnswer : .noAcknowledgement)
        }
        let again: [Action]
        switch (timer, state) {
        case (.handshake, .uninitialized): again = say(.sync)
        case (.handshake, _): again = say(.configuration(own))
        case (.woken, _): again = say(.wakeUp)
        case (.acknowledgement, _) where isPeerAsleep: return say(.wakeUp) + begin(.woken)
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

    private mutating func say(_ message: ThreeWireMessage) -> [Action] {
        var packet = ThreeWirePacket(.linkControl, message.payload)
        // Until both have agreed on it nobody reads a check.
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
        guard !isPeerAsleep else { return waiting.isEmpty || timer == .woken ? [] : say(.wakeUp) + begin(.woken) }
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
        if packet.kind == .linkControl { return ThreeWireMessage(packet.payload).map { hear($0) } ?? [] }
        guard state == .active else { return [] }
        let acknowledged = take(acknowledgement: packet.acknowledgement)
        var delivered: [Action] = []
        if packet.isReliable {
            // One that is out of order is asked for again by the number that is expected (Core Vol 4 Part D 4.2).
            owesAcknowledgement = true
            guard packet.sequence == expected else { return acknowledged }
            expected = (expected + 1) & 7
        }
        if let kind = HCIPacket.Kind(packet.kind) {
            delivered = [.deliver(HCIPacket(kind, PacketBuffer(packet.payload)))]
        }
        return delivered + acknowledged
    }

    private mutating func take(acknowledgement number: UInt8) -> [Action] {
        let count = Int((number &- base) & 7)
        // More than was sent is nothing that it can mean.
        guard count > 0, count <= unacknowledged.count else { return [] }
        unacknowledged.removeFirst(count)
        base = number
        return restart(unacknowledged.isEmpty ? nil : .acknowledgement) + sendWaiting()
    }

    private mutating func hear(_ message: ThreeWireMessage) -> [Action] {
        switch (message, state) {
        case (.sync, .active): return fail(.peerReset)
        case (.sync, _): return say(.syncResponse)
        case (.syncResponse, .uninitialized):
            state = .initialized
            attempts = [:]
            return say(.configuration(own))
        case (.syncResponse, _): return []
        case (.configuration, .uninitialized): return []
        case (.configuration(let theirs), _): return say(.configurationResponse(own.common(theirs)))
        case (.configurationResponse(let agreed), .initialized):
            self.agreed = own.common(agreed)
            state = .active
            return begin(nil) + sendWaiting()
        case (.configurationResponse, _): return []
        case (.wakeUp, .active):
            isPeerAsleep = false
            return say(.woken) + sendWaiting()
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
    /// Voice and audio that come late are of no use (Core Vol 4 Part D 4.3).
    fileprivate var isReliable: Bool {
        switch self {
        case .command, .acl, .event: true
        case .synchronous, .isochronous: false
        }
    }

    fileprivate init?(_ kind: ThreeWirePacket.Kind) {
        switch kind {
        case .command: self = .command
        case .acl: self = .acl
        case .synchronous: self = .synchronous
        case .event: self = .event
        case .isochronous: self = .isochronous
        case .acknowledgement, .vendor, .linkControl: return nil
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
