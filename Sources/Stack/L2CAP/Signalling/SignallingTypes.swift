import BluetoothTypes

// The events, actions and state of the signalling machine.

extension SignallingMachine {
    /// Identifies a request of this end until it is finished.
    typealias Ticket = UInt64

    /// The peer's end of a channel.
    struct PeerEnd: Equatable {
        let identifier: ChannelIdentifier
        var mtu: Int
        var mps: Int
        /// The initial credits: the number of frames that may be sent to the peer.
        let credits: Int
    }

    /// A channel that is ready for use.
    struct OpenedChannel: Equatable {
        let own: ChannelIdentifier
        let peer: PeerEnd
        let spsm: SPSM
        let mode: ChannelMode
        let parameters: ChannelParameters
    }

    /// A request for channels by the peer, in either mode.
    struct IncomingRequest: Equatable {
        let identifier: UInt8
        let spsm: SPSM
        let mode: ChannelMode
        let mtu: Int
        let mps: Int
        let credits: Int
        let sources: [ChannelIdentifier]
    }

    /// The owner's decision on an incoming request.
    enum Ruling: Equatable {
        case accept(ChannelParameters, atMost: Int)
        /// Opens none, and answers with this result.
        case refuse(ChannelResult)
    }

    /// The outcome of a request of this end.
    enum Outcome: Equatable {
        case parameters(ParameterUpdateOutcome)
        /// At least one channel is open. The result tells why others were refused.
        case opened([ChannelIdentifier], ChannelResult)
        case notOpened(ChannelOpenError)
        case reconfigured(ReconfigureError?)
        /// The link was closed. Only the owner produces this outcome.
        case linkLost
    }

    enum Event {
        case received(PacketBuffer)
        case requestParameters(ConnectionParameters, Ticket)
        /// The policy, as central, decided on a parameter update request.
        case decided(Bool, identifier: UInt8)
        case open(ChannelMode, SPSM, ChannelParameters, count: Int, Ticket)
        case ruled(Ruling, IncomingRequest)
        /// The owner changes the sizes that this end accepts.
        case reconfigure([ChannelIdentifier], mtu: Int, mps: Int, Ticket)
        case grant(UInt16, ChannelIdentifier)
        case disconnect(ChannelIdentifier, ChannelClosure)
        /// The response to the request with this identifier did not arrive in time.
        case timeout(identifier: UInt8)
    }

    enum Action: Equatable {
        case send(SignallingPacket)
        /// Asks the policy to decide on legal connection parameters.
        case decide(ConnectionParameters, identifier: UInt8)
        /// Asks the owner to rule on a valid request for channels.
        case rule(IncomingRequest)
        /// Starts the time-out for the response with this identifier and replaces an earlier one.
        case startTimer(identifier: UInt8, Duration)
        case stopTimer(identifier: UInt8)
        case finished(Ticket, Outcome)
        /// Reports an open channel. `isIncoming` is true if the peer requested it.
        case opened(OpenedChannel, isIncoming: Bool)
        case closed(ChannelIdentifier, ChannelClosure)
        case credited(ChannelIdentifier, UInt16)
        case peerResized(ChannelIdentifier, mtu: Int, mps: Int)
        case resized(ChannelIdentifier, mtu: Int, mps: Int)
        case discarded(SignallingFault)
    }
}

extension SignallingMachine {
    /// A dynamic channel at this end.
    struct Endpoint {
        enum State {
            case opening
            case open(PeerEnd)
            /// This end has sent a disconnection request, and the user of the channel has been released.
            case closing(PeerEnd)
        }

        let spsm: SPSM
        let mode: ChannelMode
        var parameters: ChannelParameters
        var state: State

        /// The peer's end; nil until the peer has answered.
        var peer: PeerEnd? {
            switch state {
            case .opening: nil
            case .open(let peer), .closing(let peer): peer
            }
        }

        var openPeer: PeerEnd? {
            if case .open(let peer) = state { peer } else { nil }
        }
    }

    /// A request of this end that is waiting for its response.
    enum PendingRequest {
        case parameters(Ticket)
        case open([ChannelIdentifier], ChannelMode, Ticket, isExtended: Bool)
        case reconfigure([ChannelIdentifier], mtu: Int, mps: Int, Ticket)
        case disconnect(ChannelIdentifier, peer: ChannelIdentifier)
    }
}
