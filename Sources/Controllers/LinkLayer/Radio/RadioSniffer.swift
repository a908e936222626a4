import EventLoops

/// A frame as captured by a sniffer, whichever node it is for.
public struct SniffedFrame: Sendable {
    /// The frame as transmitted.
    public var frame: RadioFrame
    /// When the first bit of the preamble was on the air.
    public var start: Instant
    /// The signal strength at the sniffer, in dBm.
    public var rssi: Int8
    /// The noise at the sniffer, in dBm; nil for a sniffer without a position.
    public var noise: Int8?
    /// Whether the CRC is wrong at the sniffer because of concurrent signals on the channel.
    public var isCorrupted: Bool
    /// The node that transmitted it.
    public var sender: RadioNode.ID
}

/// A receiver that captures every frame: on all channels at once, with every access address and modulation, overlapping
/// or not.
///
/// Distance, noise, collisions and interference affect it as they affect the nodes. Random loss and corruption do not:
/// they are drawn for individual nodes. So a sniffer never changes the run that it captures.
public final class RadioSniffer {
    /// The position of the sniffer. With nil it receives everything at the transmit power, without disturbance.
    public var position: Position?
    /// Called with each frame, in the order in which they started, once it and all that started before it have ended.
    public var onFrame: ((SniffedFrame) -> Void)?
    /// Called with the number of empty frames that links on which nothing else happens have exchanged, in place of
    /// ``onFrame`` for each of them. While it is nil, the sniffer receives them all, so that links carry out each event.
    package var onQuietFrames: ((Int) -> Void)?

    private struct Pending {
        var sniffed: SniffedFrame
        var transmission: Transmission
        var strength: Double
        var hasEnded = false
    }

    // Frames on the air, and later ones that ended earlier. The longest frame lasts 17 ms.
    private var pending: [Pending] = []

    init(at position: Position?) {
        self.position = position
    }

    func begin(_ sniffed: SniffedFrame, _ transmission: Transmission, strength: Double = 0) {
        pending.append(Pending(sniffed: sniffed, transmission: transmission, strength: strength))
    }

    /// Handles a new signal on a channel: marks the frames there that it corrupts.
    func disturb(channel: UInt8, _ isMasked: (Transmission, Double) -> Bool) {
        for index in pending.indices {
            let each = pending[index]
            guard each.sniffed.frame.channel == channel, !each.hasEnded, !each.sniffed.isCorrupted else { continue }
            pending[index].sniffed.isCorrupted = isMasked(each.transmission, each.strength)
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
