/// A difference between what a stack sends during the playback of a capture, and what the capture's host sent.
public struct CaptureDeparture: Hashable, Sendable, Codable {
    /// The kind of a departure.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The stack sent a packet that differs in its contents from its counterpart.
        case different
        /// The stack sent a packet for which the capture has no counterpart.
        case additional
        /// The stack sent a packet more often than the capture's host.
        case repeated
        /// The stack sent a packet after others that the capture's host sent later.
        case order
        /// The stack did not send a packet of the capture's host.
        case missing
        /// The playback left out packets of the capture's controller, since the stack did not do what they follow.
        case leftOut
    }

    /// The kind of the departure.
    public var kind: Kind
    /// The time since the playback began, in seconds.
    public var time: Double
    /// The packet of the capture in words; for a packet without a counterpart the one that the capture's host sent
    /// next, nil if it sent none.
    public var captured: String?
    /// The time of the captured packet since the beginning of the capture, in seconds.
    public var capturedTime: Double?
    /// The packet that the stack sent, in words; for a missing one the one that it sent last, nil if it sent none.
    public var sent: String?
    /// The reason, or the way in which the playback went on.
    public var explanation: String
    /// Whether the difference comes from fresh random numbers, as the specification demands them: keys, addresses, and
    /// the values of a pairing. The random numbers of the recorded stack avoid it.
    public var isRandom: Bool
}

extension CaptureDeparture: CustomStringConvertible {
    /// Three lines: the explanation, the packet of the capture, and the packet of the stack.
    public var description: String {
        let captured = captured.map { "\(Self.seconds(capturedTime)) \($0)" } ?? "nothing"
        let sent = sent ?? "nothing"
        return """
            \(Self.seconds(time)) \(kind.rawValue)\(isRandom ? " (random)" : ""): \(explanation)
                the capture has: \(captured)
                the stack sent:  \(sent)
            """
    }

    private static func seconds(_ time: Double?) -> String {
        guard let time else { return "" }
        let micros = Int64((time * 1_000_000).rounded())
        let rest = String(micros % 1_000_000)
        return "\(micros / 1_000_000)." + String(repeating: "0", count: max(0, 6 - rest.count)) + rest
    }
}

/// The departures of a playback so far.
struct DepartureReport: Sendable {
    /// The maximum number of departures that are kept.
    static let maximum = 10_000

    private(set) var departures: [CaptureDeparture] = []
    /// Called with each departure.
    private let observe: (@Sendable (CaptureDeparture) -> Void)?
    /// The last packet of the stack on each lane.
    var lastSent: [Lane: String] = [:]

    init(observe: (@Sendable (CaptureDeparture) -> Void)?) { self.observe = observe }

    mutating func add(_ departure: CaptureDeparture) {
        observe?(departure)
        guard departures.count < Self.maximum else { return }
        departures.append(departure)
    }
}
