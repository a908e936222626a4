import BluetoothTypes

// What goes in and out of the signalling machine besides packets.

extension SignallingMachine {
    /// Names a request of this end until it is finished.
    typealias Ticket = UInt64

    /// The peer's end of a channel.
    struct PeerEnd: Equatable {
        let identifier: ChannelIdentifier
        var mtu: Int
        var mps: Int
        /// Those that came with the opening.
        let credits: Int
    }

    /// A channel that can be used.
    struct OpenedChannel: Equatable {
        let own: ChannelIdentifier
        let peer: PeerEnd
        let spsm: SPSM
        let mode: ChannelMode
        /// What this end takes.
        let parameters: ChannelParameters
    }

    /// What a peer asks for, in either mode.
    struct IncomingRequest: Equatable {
        let identifier: UInt8
        let spsm: SPSM
        let mode: ChannelMode
        let mtu: Int
        let mps: Int
        let credits: Int
        let sources: [ChannelIdentifier]
    }

    /// What the owner says to that.
    enum Ruling: Equatable {
        /// Up to so many channels.
        case accept(ChannelParameters, atMost: Int)
        /// None.
        case refuse(ChannelResult)
    }

    /// How a request of this end was finished.
    enum Outcome: Equatable {
        case parameters(ParameterUpdateOutcome)
        /// Channels are open; for some of those that were asked for there may be a refusal.
        case opened([ChannelIdentifier], ChannelResult)
        case notOpened(ChannelOpenError)
        case reconfigured(ReconfigureError?)
        /// The link is gone, which the owner says.
        case linkLost
    }

    enum Event {
        /// A payload of the signalling channel.
        case received(PacketBuffer)
        /// As peripheral: parameters are wanted.
        case requestParameters(ConnectionParameters, Ticket)
        /// As central: the policy has decided on a request.
        case decided(Bool, identifier: UInt8)
        /// Channels are wanted.
        case open(ChannelMode, SPSM, ChannelParameters, count: Int, Ticket)
        /// The owner has ruled on a peer's request.
        case ruled(Ruling, IncomingRequest)
        /// This end wants to take other sizes.
        case reconfigure([ChannelIdentifier], mtu: Int, mps: Int, Ticket)
        /// The peer is to get credits.
        case give(UInt16, ChannelIdentifier)
        /// A channel is to be closed.
        case disconnect(ChannelIdentifier, ChannelClosure)
        /// The answer to the request with this identifier did not come.
        case timeout(identifier: UInt8)
    }

    enum Action: Equatable {
        case send(SignallingPacket)
        /// A legal request for connection parameters, for the policy to decide on.
        case decide(ConnectionParameters, identifier: UInt8)
        /// A request for channels that has no fault, for the owner to rule on.
        case rule(IncomingRequest)
        /// The answer to the request with this identifier is due after so long; an older timer for it is void.
        case startTimer(identifier: UInt8, Duration)
        case stopTimer(identifier: UInt8)
        case finished(Ticket, Outcome)
        /// A channel is open; `isIncoming` when the peer asked for it.
        case opened(OpenedChannel, isIncoming: Bool)
        case closed(ChannelIdentifier, ChannelClosure)
        /// The peer gives credits to a channel.
        case credited(ChannelIdentifier, UInt16)
        /// The peer takes other sizes on a channel.
        case peerResized(ChannelIdentifier, mtu: Int, mps: Int)
        /// This end takes other sizes on a channel.
        case resized(ChannelIdentifier, mtu: Int, mps: Int)
        case discarded(SignallingFault)
    }
}

extension SignallingMachine {
    /// A channel of the dynamic range at this end.
    struct Endpoint {
        enum State {
            /// We have asked for it.
            case opening
            case open(PeerEnd)
            /// We have asked for its end; its user knows of it already.
            case closing(PeerEnd)
        }

        let spsm: SPSM
        let mode: ChannelMode
        /// What this end takes.
        var parameters: ChannelParameters
        var state: State

        /// The peer's end, unless the peer has not answered yet.
        var peer: PeerEnd? {
            switch state {
            case .opening: nil
            case .open(let peer), .closing(let peer): peer
            }
        }

        /// The peer's end when the channel can be used.
        var openPeer: PeerEnd? {
            if case .open(let peer) = state { peer } else { nil }
        }
    }

    /// A request of this end that waits for its answer.
    enum PendingRequest {
        case parameters(Ticket)
        case open([ChannelIdentifier], ChannelMode, Ticket, isExtended: Bool)
        case reconfigure([ChannelIdentifier], mtu: Int, mps: Int, Ticket)
        case disconnect(ChannelIdentifier, peer: ChannelIdentifier)
    }
}
