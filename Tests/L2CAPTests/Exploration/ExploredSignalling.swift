import BluetoothTypes
import StateExplorer

@testable import L2CAP

/// Both ends of a link whose users open, reconfigure and close channels, send data and request connection parameters at
/// any time.
struct ExploredSignalling: Explorable {
    static var isValue: Bool { true }

    enum Move: Hashable {
        case open(ChannelMode, by: L2CAPRole)
        case close(UInt16, by: L2CAPRole)
        case send(on: UInt16, by: L2CAPRole)
        /// An end accepts larger SDUs, and larger or smaller frames.
        case reconfigure(UInt16, mps: Int, by: L2CAPRole)
        case requestParameters
        case deliver(to: L2CAPRole)
        /// The next request meets an end that does not know the command.
        case refuseToUnderstand(L2CAPRole)
        /// A response comes later than a request waits for it.
        case timeout(L2CAPRole, identifier: UInt8)
    }

    struct Bounds {
        /// The channels that each end opens with one request of the mode.
        var counts: [ChannelMode: Int] = [:]
        /// The requests for channels by each end.
        var opens = 1
        /// The channels that each end has room for, counting those that it opens itself.
        var room = 2
        var closes = 0
        var sends = 0
        var reconfigures = 0
        var requestsParameters = false
        /// The commands that are not understood, and the responses that are late.
        var disturbances = 0
    }

    enum Item: Hashable {
        case signal([UInt8])
        case frame(ChannelIdentifier)
    }

    private let bounds: Bounds
    private(set) var central = SignallingEnd(.central)
    private(set) var peripheral = SignallingEnd(.peripheral)
    private var closesLeft: Int
    private var sendsLeft: Int
    private var reconfiguresLeft: Int
    private var disturbancesLeft: Int
    private var hasRequestedParameters = false
    /// Whether an end does not know which sizes the other one has adopted, because the response was late.
    private var isUnsureOfSizes = false
    private var broken: String?

    init(_ bounds: Bounds) {
        self.bounds = bounds
        (closesLeft, sendsLeft, disturbancesLeft) = (bounds.closes, bounds.sends, bounds.disturbances)
        reconfiguresLeft = bounds.reconfigures
    }

    private static let roles: [L2CAPRole] = [.central, .peripheral]
    /// The sizes of frames that ends choose, and by how much each choice enlarges the SDUs.
    private static let sizes = [64, 128]
    private static let growth = 64

    subscript(role: L2CAPRole) -> SignallingEnd {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    // MARK: Moves

    var moves: [Move] {
        var moves: [Move] = []
        for role in Self.roles {
            let end = self[role]
            if !end.inbox.isEmpty { moves.append(.deliver(to: role)) }
            if end.opens < bounds.opens { moves += modes.map { .open($0, by: role) } }
            for channel in end.channels.keys.map(\.rawValue).sorted() {
                if closesLeft > 0 { moves.append(.close(channel, by: role)) }
                if sendsLeft > 0 { moves.append(.send(on: channel, by: role)) }
                if reconfiguresLeft > 0 {
                    moves += Self.sizes.map { .reconfigure(channel, mps: $0, by: role) }
                }
            }
            guard disturbancesLeft > 0 else { continue }
            moves += end.timers.sorted().map { .timeout(role, identifier: $0) }
            if end.isAskedNext { moves.append(.refuseToUnderstand(role)) }
        }
        if bounds.requestsParameters, !hasRequestedParameters { moves.append(.requestParameters) }
        return moves
    }

    private var modes: [ChannelMode] { bounds.counts.keys.sorted { $0.minimumSize < $1.minimumSize } }

    mutating func perform(_ move: Move) {
        switch move {
        case .open(let mode, let role):
            self[role].opens += 1
            let ticket = self[role].newTicket()
            let count = bounds.counts[mode] ?? 1
            handle(.open(mode, SignallingEnd.spsm, SignallingEnd.parameters, count: count, ticket), at: role)
        case .close(let channel, let role):
            closesLeft -= 1
            handle(.disconnect(ChannelIdentifier(rawValue: channel), .local), at: role)
        case .send(let channel, let role):
            sendsLeft -= 1
            transmit(on: ChannelIdentifier(rawValue: channel), by: role)
        case .reconfigure(let channel, let mps, let role):
            reconfiguresLeft -= 1
            reconfigure(ChannelIdentifier(rawValue: channel), mps: mps, by: role)
        case .requestParameters:
            hasRequestedParameters = true
            let wanted = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 40, latency: 0, timeout: 300)
            let ticket = peripheral.newTicket()
            handle(.requestParameters(wanted, ticket), at: .peripheral)
        case .deliver(let role): deliver(to: role)
        case .refuseToUnderstand(let role):
            disturbancesLeft -= 1
            guard case .signal(let octets) = self[role].inbox.removeFirst() else { return }
            let rejection = SignallingPacket(CommandReject(), identifier: octets[1])
            self[role.other].inbox.append(.signal(rejection.encoded().bytes))
        case .timeout(let role, let identifier):
            disturbancesLeft -= 1
            if case .reconfigure? = self[role].machine.pending[identifier] { isUnsureOfSizes = true }
            self[role].timers.remove(identifier)
            handle(.timeout(identifier: identifier), at: role)
        }
    }

    private mutating func deliver(to role: L2CAPRole) {
        switch self[role].inbox.removeFirst() {
        case .signal(let octets): handle(.received(PacketBuffer(octets)), at: role)
        case .frame(let number):
            // Data for a channel that has been closed meanwhile are ignored.
            guard var channel = self[role].channels[number] else { return }
            let outcome = channel.receiver.receive(PacketBuffer([1, 0, 7]), at: .first)
            if case .violation(let violation) = outcome { broken = "a frame breaks a rule: \(violation)" }
            let grant = channel.receiver.takeGrant()
            self[role].channels[number] = channel
            if let grant { handle(.grant(grant, number), at: role) }
        }
    }

    private mutating func reconfigure(_ number: ChannelIdentifier, mps: Int, by role: L2CAPRole) {
        guard let endpoint = self[role].machine.endpoints[number] else { return }
        let ticket = self[role].newTicket()
        let mtu = endpoint.parameters.mtu + Self.growth
        handle(.reconfigure([number], mtu: mtu, mps: mps, ticket), at: role)
    }

    private mutating func transmit(on number: ChannelIdentifier, by role: L2CAPRole) {
        self[role].channels[number]?.sender.add(PacketBuffer([7]))
        pump(number, role)
    }

    private mutating func pump(_ number: ChannelIdentifier, _ role: L2CAPRole) {
        guard let peer = self[role].channels[number]?.peer else { return }
        while self[role].channels[number]?.sender.next() != nil { self[role.other].inbox.append(.frame(peer)) }
    }

    private mutating func handle(_ event: SignallingMachine.Event, at role: L2CAPRole) {
        for action in self[role].machine.handle(event) { perform(action, at: role) }
    }

    private mutating func perform(_ action: SignallingMachine.Action, at role: L2CAPRole) {
        switch action {
        case .send(let packet): self[role.other].inbox.append(.signal(packet.encoded().bytes))
        case .decide(_, let identifier): handle(.decided(true, identifier: identifier), at: role)
        case .rule(let request):
            let used = self[role].machine.endpoints.count
            let ruling = SignallingMachine.Ruling.accept(SignallingEnd.parameters, atMost: max(0, bounds.room - used))
            handle(.ruled(ruling, request), at: role)
        case .startTimer(let identifier, _): self[role].timers.insert(identifier)
        case .stopTimer(let identifier): self[role].timers.remove(identifier)
        case .finished(let ticket, _):
            if self[role].awaited.remove(ticket) == nil { broken = "the \(role) finishes a request twice" }
        case .opened(let opened, _):
            if self[role].channels[opened.own] != nil { broken = "the \(role) opens a channel twice" }
            self[role].channels[opened.own] = .init(opened)
        case .closed(let channel, let closure):
            if case .violation(let violation) = closure { broken = "a channel breaks a rule: \(violation)" }
            if self[role].channels.removeValue(forKey: channel) == nil {
                broken = "the \(role) closes a closed channel"
            }
        case .credited(let channel, let credits):
            if self[role].channels[channel]?.sender.add(credits) == false { broken = "there are too many credits" }
            pump(channel, role)
        case .peerResized(let channel, let mtu, let mps):
            self[role].channels[channel]?.sender.mtu = mtu
            self[role].channels[channel]?.sender.mps = mps
        case .resized(let channel, let mtu, let mps):
            self[role].channels[channel]?.receiver.mtu = mtu
            self[role].channels[channel]?.receiver.mps = mps
        case .discarded: break
        }
    }

    // MARK: Rules

    var fault: String? {
        broken ?? central.machine.brokenInvariant ?? peripheral.machine.brokenInvariant ?? faultOfCredits
            ?? faultOfSizes ?? (isQuiet ? faultOfRest : nil)
    }

    private var isQuiet: Bool { central.inbox.isEmpty && peripheral.inbox.isEmpty }

    /// The credits of a sender, and those on their way, are what the receiver counts.
    private var faultOfCredits: String? {
        for role in Self.roles {
            for (number, channel) in self[role].channels {
                guard let other = self[role.other].channels[channel.peer], other.peer == number else { continue }
                let frames = self[role.other].inbox.count { $0 == .frame(channel.peer) }
                let granted = self[role].inbox.reduce(0) { $0 + $1.credits(on: channel.peer) }
                if !(0...FrameSender.maximumCredits).contains(channel.sender.credits) {
                    return "credits are out of range"
                }
                if channel.sender.credits + frames + granted != other.receiver.credits {
                    return "the ends disagree about the credits of the \(role)"
                }
            }
        }
        return nil
    }

    /// No end may send more than the other one accepts.
    private var faultOfSizes: String? {
        for role in Self.roles {
            for (number, channel) in self[role].channels {
                guard let other = self[role.other].channels[channel.peer], other.peer == number else { continue }
                let (sender, receiver) = (channel.sender, other.receiver)
                if sender.mtu > receiver.mtu || sender.mps > receiver.mps {
                    return "the \(role) may send more than the other end accepts"
                }
                if isQuiet, !isUnsureOfSizes, sender.mtu < receiver.mtu || sender.mps < receiver.mps {
                    return "the \(role) does not know how much the other end accepts"
                }
            }
        }
        return nil
    }

    /// The broken rule of a state in which nothing is under way.
    private var faultOfRest: String? {
        for role in Self.roles {
            let (end, other) = (self[role], self[role.other])
            if !end.awaited.isEmpty { return "a request of the \(role) waits for ever" }
            if !end.timers.isEmpty || !end.machine.pending.isEmpty { return "the \(role) waits for a response" }
            for (number, endpoint) in end.machine.endpoints {
                guard let peer = endpoint.openPeer else { return "the \(role) has leaked a channel identifier" }
                guard other.machine.endpoints[peer.identifier]?.openPeer?.identifier == number else {
                    return "only the \(role) has an open channel"
                }
            }
            let users = Set(end.channels.keys)
            if users != Set(end.machine.endpoints.keys) { return "a user of the \(role) has another channel than it" }
            for channel in end.channels.values where channel.sender.queuedSDUs > 0 {
                return "data of the \(role) wait for ever"
            }
        }
        return nil
    }

    var key: ExploredSignallingKey {
        ExploredSignallingKey(
            central: central.key,
            peripheral: peripheral.key,
            left: [closesLeft, sendsLeft, reconfiguresLeft, disturbancesLeft],
            flags: [hasRequestedParameters, isUnsureOfSizes],
            broken: broken
        )
    }
}

extension ExploredSignalling.Item {
    /// The credits that a command grants for a channel of its sender.
    fileprivate func credits(on channel: ChannelIdentifier) -> Int {
        guard case .signal(let octets) = self, octets.first == SignallingCode.flowControlCredit.rawValue,
            let packet = try? SignallingPacket(reading: PacketBuffer(octets)),
            let command = try? FlowControlCredit(reading: packet.data), command.channel == channel
        else { return 0 }
        return Int(command.credits)
    }
}

extension L2CAPRole {
    fileprivate var other: L2CAPRole { self == .central ? .peripheral : .central }
}
