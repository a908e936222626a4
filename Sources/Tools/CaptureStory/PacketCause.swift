/// A packet with the packet that caused it, which has a cause itself: a chain back to what began it.
package final class PacketCause: Sendable {
    /// The longest chain. Earlier causes are forgotten, as the continuations of a very long discovery would be.
    static let maximumDepth = 100

    /// The number of the packet in its capture.
    package let packet: UInt64
    /// The time of the packet, in microseconds.
    package let time: Int64
    /// The relation to the cause, or the reason why there is none.
    package let rule: PacketRule
    package let cause: PacketCause?
    /// The number of the command or the request that the packet answers.
    package let request: UInt64?
    private let depth: Int

    init(_ packet: UInt64, at time: Int64, _ origin: CauseOrigin) {
        (self.packet, self.time, rule, request) = (packet, time, origin.rule, origin.request?.packet)
        let depth = (origin.cause?.depth ?? 0) + 1
        cause = depth < Self.maximumDepth ? origin.cause : nil
        self.depth = depth < Self.maximumDepth ? depth : 0
    }

    /// The chain from this packet back to its first cause.
    package var chain: [PacketCause] { Array(sequence(first: self) { $0.cause }) }
}

/// The cause of a packet that is about to be added.
struct CauseOrigin: Sendable {
    let rule: PacketRule
    var cause: PacketCause?
    /// The command or the request that the packet answers.
    var request: PacketCause?

    init(_ rule: PacketRule, _ cause: PacketCause? = nil) { (self.rule, self.cause) = (rule, cause) }

    /// The origin of an answer.
    init(answering request: PacketCause, _ rule: PacketRule) {
        (self.rule, cause, self.request) = (rule, request, request)
    }
}

/// The relation of a packet to its cause, and the section of the specification that it follows from.
package enum PacketRule: String, Sendable, CaseIterable {
    // The first causes.
    case hostDecides, peerDecides, advertises, unknown
    // Commands and events.
    case answersCommand, countsPackets, reportsScan, wantsReported, completesConnection, acceptsConnection
    case performsCommand, wasGivenUp, peerEnded, timedOut, replies
    // Requests and values.
    case answersRequest, confirms, continues, repeats, isSubscribed, answersSignal, followsPairing, startsSecurity
    case isFragment, isOnLink
    // The air.
    case carries, isCarried, answersPoll, keepsLink, isSentAgain, scans, answersScan, connects, answersControl

    /// A clause about the packet, which the cause follows.
    package var text: String {
        switch self {
        case .hostDecides: "this device's host sent it by itself; the capture does not tell why"
        case .peerDecides: "the peer sent it by itself; the capture does not tell why"
        case .advertises: "the device advertises by itself"
        case .unknown: "the capture has nothing that caused it"
        case .answersCommand: "it answers the command"
        case .countsPackets: "it counts the data packets that were sent, up to this one"
        case .reportsScan: "it reports what the scan receives, which was switched on"
        case .wantsReported: "it is about the device that was reported"
        case .completesConnection: "it completes the connection that was asked for"
        case .acceptsConnection: "a device connects because this one advertises"
        case .performsCommand: "it reports the end of the procedure that was asked for"
        case .wasGivenUp: "nothing was received on the link after this packet, until the supervision timeout"
        case .peerEnded: "the peer ended the link, after this packet"
        case .timedOut: "the request had no response for 30 s"
        case .replies: "it replies to the request of the controller"
        case .answersRequest: "it answers the request"
        case .confirms: "it confirms the indication"
        case .continues: "it continues the procedure after this response"
        case .repeats: "it repeats a refused request, now that the link is secure"
        case .isSubscribed: "the value was subscribed to"
        case .answersSignal: "it answers the signalling request"
        case .followsPairing: "it follows in the pairing"
        case .startsSecurity: "security was asked for"
        case .isFragment: "it continues the PDU that begins"
        case .isOnLink: "it was sent on the link that was made"
        case .carries: "it carries the data of the host's packet"
        case .isCarried: "it was received on the air"
        case .answersPoll: "the peripheral answers each packet of the central"
        case .keepsLink: "the central keeps the link up, which was made"
        case .isSentAgain: "it is sent again, because the first one was not acknowledged"
        case .scans: "a scanner asks for more of the advertisement"
        case .answersScan: "it answers the scan request"
        case .connects: "it connects to the device that advertises"
        case .answersControl: "it answers the control PDU"
        }
    }

    package var section: String? {
        switch self {
        case .hostDecides, .peerDecides, .unknown: nil
        case .advertises: "Core Vol 6 Part B 4.4.2"
        case .answersCommand: "Core Vol 4 Part E 4.4"
        case .countsPackets: "Core Vol 4 Part E 7.7.19"
        case .reportsScan: "Core Vol 4 Part E 7.7.65.2"
        case .wantsReported: "Core Vol 4 Part E 7.8.12"
        case .completesConnection: "Core Vol 4 Part E 7.7.65.1"
        case .acceptsConnection: "Core Vol 6 Part B 4.5"
        case .performsCommand: "Core Vol 4 Part E 4.4"
        case .wasGivenUp: "Core Vol 6 Part B 4.5.2"
        case .peerEnded: "Core Vol 6 Part B 5.1.6"
        case .timedOut: "Core Vol 3 Part F 3.3.3"
        case .replies: "Core Vol 4 Part E 7.7.65.5"
        case .answersRequest, .confirms: "Core Vol 3 Part F 3.3.2"
        case .continues: "Core Vol 3 Part G 4.4.1"
        case .repeats: "Core Vol 3 Part F 3.4.1.1"
        case .isSubscribed: "Core Vol 3 Part G 3.3.3.3"
        case .answersSignal: "Core Vol 3 Part A 4"
        case .followsPairing, .startsSecurity: "Core Vol 3 Part H 2.1"
        case .isFragment: "Core Vol 4 Part E 5.4.2"
        case .isOnLink: "Core Vol 4 Part E 5.4.2"
        case .carries, .isCarried: "Core Vol 6 Part B 2.4.1"
        case .answersPoll, .keepsLink: "Core Vol 6 Part B 4.5.1"
        case .isSentAgain: "Core Vol 6 Part B 4.5.9"
        case .scans, .answersScan: "Core Vol 6 Part B 4.4.3.2"
        case .connects: "Core Vol 6 Part B 4.4.4"
        case .answersControl: "Core Vol 6 Part B 5.1"
        }
    }

    /// Whether the packet has no cause in the capture.
    package var isFirst: Bool {
        switch self {
        case .hostDecides, .peerDecides, .advertises, .unknown: true
        default: false
        }
    }
}
