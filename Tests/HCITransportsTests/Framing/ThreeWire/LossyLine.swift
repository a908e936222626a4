import BluetoothTypes
import EventLoops
import HCI
import HCITransports

/// An in-process serial line that drops and corrupts octets at random.
final class LossyLine: OctetLine {
    var onReceive: (([UInt8]) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    let place = "wire"
    /// The octets sent into this end.
    private(set) var sent: [UInt8] = []
    /// One octet in this many is lost, and one in this many is corrupted; 0 for none.
    var oneIn: UInt64 = 0
    /// Whether the line is cut, so that nothing arrives.
    var isCut = false

    private let loop: any EventLoop
    private let random: RandomSource
    private weak var peer: LossyLine?
    private var arrival = Instant.zero
    private var isOpen = true

    init(loop: any EventLoop, random: RandomSource) {
        self.loop = loop
        self.random = random
    }

    static func pair(loop: any EventLoop, random: RandomSource) -> (near: LossyLine, far: LossyLine) {
        let (near, far) = (LossyLine(loop: loop, random: random), LossyLine(loop: loop, random: random))
        (near.peer, far.peer) = (far, near)
        return (near, far)
    }

    /// Sends at one megabaud: ten microseconds per octet, in order.
    func send(_ octets: PacketBuffer) {
        guard isOpen, !isCut else { return }
        let octets = octets.bytes
        sent += octets
        let arriving = octets.compactMap { octet -> UInt8? in
            guard oneIn > 0 else { return octet }
            if random.below(oneIn) == 0 { return nil }
            return random.below(oneIn) == 0 ? UInt8(truncatingIfNeeded: random.next()) : octet
        }
        arrival = max(arrival, loop.now) + .microseconds(10 * octets.count)
        _ = loop.schedule(at: arrival) { [weak peer] in
            guard let peer, peer.isOpen else { return }
            peer.onReceive?(arriving)
        }
    }

    func close() { isOpen = false }

    /// Hands this end to a new owner.
    func reopen() {
        isOpen = true
        (onReceive, onClose) = (nil, nil)
    }
}
