import EventLoops

/// A frame on the air.
final class Transmission {
    let frame: RadioFrame
    let sender: RadioNode
    let power: Double
    /// The sender's position when the frame started.
    let position: Position
    let start: Instant
    let end: Instant
    /// The nodes that locked on to the frame. Some may have stopped receiving since.
    private(set) var receivers: [RadioNode] = []

    init(_ frame: RadioFrame, from sender: RadioNode, power: Double, start: Instant) {
        self.frame = frame
        self.sender = sender
        self.power = power
        self.start = start
        position = sender.position
        end = start.advanced(byMicroseconds: frame.airTimeMicroseconds)
    }

    func lock(_ node: RadioNode) {
        receivers.append(node)
    }

    /// The end of preamble and access address. A receiver that cannot make them out does not notice the frame.
    var endOfAccessAddress: Instant { start.advanced(byMicroseconds: frame.phy.accessAddressMicroseconds) }

    func sniffed(strength: Double) -> SniffedFrame {
        SniffedFrame(
            frame: frame,
            start: start,
            rssi: reportedRSSI(strength),
            noise: nil,
            isCorrupted: false,
            sender: sender.id
        )
    }
}
