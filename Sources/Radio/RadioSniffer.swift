import EventLoops

/// A frame as a sniffer sees it, whoever it is for.
public struct SniffedFrame: Sendable {
    /// What was sent.
    public var frame: RadioFrame
    /// When its first bit was on the air.
    public var start: Instant
    /// How strong it is where the sniffer stands, in dBm.
    public var rssi: Int8
    /// The noise there, in dBm; nil for a sniffer without a place.
    public var noise: Int8?
    /// Whether the CRC is wrong there, because others were on the channel at the same time.
    public var isCorrupted: Bool
    /// The node that sent it.
    public var sender: RadioNode.ID
}

/// A receiver for everything: it listens on all channels at once, with every access address and modulation, and can follow
/// frames that overlap.
///
/// Distance, noise, collisions and interference are for it what they are for the nodes; what is lost by chance is lost by
/// single nodes and not by it. So a sniffer does not change the run that it watches.
public final class RadioSniffer {
    /// Where it stands. Without a place it hears everything, with the power that it is sent with, and nothing disturbs.
    public var position: Position?
    /// Takes the frames, in the order of their beginnings, each when it and those that began before it have ended.
    public var onFrame: ((SniffedFrame) -> Void)?

    private struct Pending {
        var sniffed: SniffedFrame
        var transmission: Transmission
        var strength: Double
        var hasEnded = false
    }

    // Frames on the air, and those behind them that ended earlier: the longest takes 17 ms.
    private var pending: [Pending] = []

    init(at position: Position?) {
        self.position = position
    }

    func begin(_ sniffed: SniffedFrame, _ transmission: Transmission, strength: Double = 0) {
        pending.append(Pending(sniffed: sniffed, transmission: transmission, strength: strength))
    }

    /// Something new is on a channel: which of the frames there it spoils.
    func disturb(channel: UInt8, _ isDrowned: (Transmission, Double) -> Bool) {
        for index in pending.indices {
            let each = pending[index]
            guard each.sniffed.frame.channel == channel, !each.hasEnded, !each.sniffed.isCorrupted else { continue }
            pending[index].sniffed.isCorrupted = isDrowned(each.transmission, each.strength)
        }
    }

    func finish(_ transmission: Transmission) {
        guard let index = pending.firstIndex(where: { $0.transmission === transmission }) else { return }
        pending[index].hasEnded = true
        let count = pending.firstIndex { !$0.hasEnded } ?? pending.count
        guard count > 0 else { return }
        let ended = pending[..<count]
        pending.removeFirst(count)
        for each in ended { onFrame?(each.sniffed) }
    }
}
