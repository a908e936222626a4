@testable import L2CAP

/// One end of an explored link: its signalling machine, and the users of its channels.
struct SignallingEnd {
    struct Channel {
        let peer: ChannelIdentifier
        var sender: FrameSender
        var receiver: FrameReceiver

        init(_ opened: SignallingMachine.OpenedChannel) {
            peer = opened.peer.identifier
            sender = FrameSender(mtu: opened.peer.mtu, mps: opened.peer.mps, credits: opened.peer.credits)
            receiver = FrameReceiver(opened.parameters)
        }
    }

    static let spsm = SPSM(rawValue: 0x80)
    static let parameters = ChannelParameters(mtu: 64, mps: 64, window: 2)

    var machine: SignallingMachine
    /// The commands and frames on their way to this end.
    var inbox: [ExploredSignalling.Item] = []
    var channels: [ChannelIdentifier: Channel] = [:]
    /// The requests that are not finished.
    var awaited: Set<SignallingMachine.Ticket> = []
    var timers: Set<UInt8> = []
    var opens = 0
    private var lastTicket: SignallingMachine.Ticket = 0

    init(_ role: L2CAPRole) {
        machine = SignallingMachine(role: role)
    }

    mutating func newTicket() -> SignallingMachine.Ticket {
        lastTicket += 1
        awaited.insert(lastTicket)
        return lastTicket
    }

    /// Whether the next item is a request for channels, their sizes or connection parameters, which an older peer may
    /// not know.
    var isAskedNext: Bool {
        guard case .signal(let octets)? = inbox.first, let first = octets.first else { return false }
        switch SignallingCode(rawValue: first) {
        case .parameterUpdateRequest, .creditBasedConnectionRequest, .enhancedConnectionRequest, .reconfigureRequest:
            return true
        default: return false
        }
    }

    var key: ExploredSignallingKey.End {
        ExploredSignallingKey.End(
            inbox: inbox,
            endpoints: machine.endpoints.mapValues(\.facts),
            pending: machine.pending.mapValues(\.facts),
            abandoned: machine.abandoned.mapValues { Set($0.keys) },
            last: [Int(machine.lastIdentifier), Int(machine.lastChannel)],
            channels: channels.mapValues {
                [
                    $0.sender.credits, $0.sender.queuedSDUs, $0.receiver.credits, Int($0.peer.rawValue),
                    $0.sender.mtu, $0.sender.mps, $0.receiver.mtu, $0.receiver.mps,
                ]
            },
            awaited: awaited,
            timers: timers,
            opens: opens
        )
    }
}

/// The differences between the states of two ends.
struct ExploredSignallingKey: Hashable {
    struct End: Hashable {
        let inbox: [ExploredSignalling.Item]
        let endpoints: [ChannelIdentifier: [Int]]
        let pending: [UInt8: [Int]]
        let abandoned: [UInt8: Set<ChannelIdentifier>]
        /// The identifiers of the last request and the last channel.
        let last: [Int]
        let channels: [ChannelIdentifier: [Int]]
        let awaited: Set<SignallingMachine.Ticket>
        let timers: Set<UInt8>
        let opens: Int
    }

    let central: End
    let peripheral: End
    let left: [Int]
    let flags: [Bool]
    let broken: String?
}

extension SignallingMachine.Endpoint {
    /// The differences between the endpoints of an exploration.
    fileprivate var facts: [Int] {
        let stage =
            switch state {
            case .opening: 0
            case .open: 1
            case .closing: 2
            }
        let other = peer.map { [Int($0.identifier.rawValue), $0.mtu, $0.mps] } ?? []
        return [mode.minimumSize, stage, parameters.mtu, parameters.mps] + other
    }
}

extension SignallingMachine.PendingRequest {
    fileprivate var facts: [Int] {
        switch self {
        case .parameters(let ticket): [0, Int(ticket)]
        case .open(let channels, let mode, let ticket, let isExtended):
            [1, mode.minimumSize, Int(ticket), isExtended ? 1 : 0] + channels.map { Int($0.rawValue) }
        case .reconfigure(let channels, let mtu, let mps, let ticket):
            [2, mtu, mps, Int(ticket)] + channels.map { Int($0.rawValue) }
        case .disconnect(let channel, let peer): [3, Int(channel.rawValue), Int(peer.rawValue)]
        }
    }
}
