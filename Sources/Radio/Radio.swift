import EventLoops

/// The simulated air: who hears which frame, how strong, and what gets lost.
///
/// A node receives a frame if it listens on the frame's channel, with its access address and modulation, from its first
/// bit to its last. Other frames on the channel at the same time spoil it unless it is stronger by the capture
/// threshold. The work that a frame makes grows with the nodes that listen on its channel, not with the others.
public final class Radio {
    /// Channels are numbered from 0 to 39.
    public static let channels: UInt8 = 40

    /// What is the same for all nodes.
    public struct Configuration: Sendable {
        /// How signals spread.
        public var propagation = Propagation()
        /// The part of the frames, 0 to 1, that a receiver does not notice at all.
        public var lossRate = 0.0
        /// The part of the frames, 0 to 1, that arrives with a wrong CRC.
        public var corruptionRate = 0.0

        /// Free space without loss.
        public init() {}
    }

    struct Transmission {
        var id: UInt64
        var frame: RadioFrame
        var sender: RadioNode
        var power: Double
        var position: Position
        var start: Instant
        var receivers: [RadioNode]
    }

    private struct Direction: Hashable {
        var from: RadioNode.ID
        var to: RadioNode.ID
    }

    /// What is the same for all nodes; may be changed while frames fly.
    public var configuration: Configuration
    /// Sees every frame at its first bit. For packet captures.
    public var onTransmission: ((SniffedFrame) -> Void)?
    /// May change each frame before it goes on the air: for the injection of faults.
    public var onSend: ((inout RadioFrame) -> Void)?
    /// Where the sniffer stands; without a place it hears each frame at the power it was sent with.
    public var snifferPosition: Position?

    let loop: any EventLoop
    private let random: RandomSource
    private var nodeCount = 0
    private var nextTransmission: UInt64 = 0
    // In the order of the nodes' numbers, so that a run does not depend on who began to listen first.
    private var listeners: [[RadioNode]]
    private var active: [[Transmission]]
    private var lossRates: [Direction: Double] = [:]

    /// Empty air.
    public init(loop: any EventLoop, random: RandomSource, configuration: Configuration = .init()) {
        self.loop = loop
        self.random = random
        self.configuration = configuration
        listeners = Array(repeating: [], count: Int(Radio.channels))
        active = Array(repeating: [], count: Int(Radio.channels))
    }

    /// Adds a node that sleeps.
    public func add(at position: Position = Position()) -> RadioNode {
        defer { nodeCount += 1 }
        return RadioNode(id: .init(number: nodeCount), position: position, radio: self)
    }

    /// Sets the part of the frames, 0 to 1, that one node does not notice of another; nil for what goes for all.
    public func setLossRate(_ rate: Double?, from sender: RadioNode, to receiver: RadioNode) {
        lossRates[Direction(from: sender.id, to: receiver.id)] = rate
    }

    /// How strong a node's signal is at another one's place, in dBm.
    public func strength(power: Double, from: Position, to: Position) -> Double {
        power - configuration.propagation.loss(over: from.distance(to: to))
    }

    // MARK: Listening

    func addListener(_ node: RadioNode, channel: UInt8) {
        let index = position(of: node, channel: channel)
        listeners[Int(channel)].insert(node, at: index)
    }

    func removeListener(_ node: RadioNode, channel: UInt8) {
        let index = position(of: node, channel: channel)
        guard index < listeners[Int(channel)].count, listeners[Int(channel)][index] === node else { return }
        listeners[Int(channel)].remove(at: index)
    }

    private func position(of node: RadioNode, channel: UInt8) -> Int {
        let list = listeners[Int(channel)]
        var range = 0..<list.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = list[middle].id < node.id ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    // MARK: Transmitting

    func transmit(_ frame: RadioFrame, from sender: RadioNode, power: Double) {
        let channel = Int(frame.channel)
        var transmission = Transmission(
            id: nextTransmission,
            frame: frame,
            sender: sender,
            power: power,
            position: sender.position,
            start: loop.now,
            receivers: []
        )
        nextTransmission += 1
        sniff(transmission)
        for node in listeners[channel] { arrive(&transmission, at: node) }
        active[channel].append(transmission)
        let id = transmission.id
        loop.schedule(after: .microseconds(frame.airTimeMicroseconds)) { [self] in finish(id, channel: channel) }
        for node in transmission.receivers { node.onFrameStart?() }
    }

    /// The first bit reaches a node that listens on the channel.
    private func arrive(_ transmission: inout Transmission, at node: RadioNode) {
        let strength = strength(power: transmission.power, from: transmission.position, to: node.position)
        if var reception = node.reception {
            // The receiver stays with the frame it has locked on to; the new one only disturbs.
            if reception.strength - strength < configuration.propagation.captureThreshold, isAudible(strength) {
                reception.isCorrupted = true
                node.reception = reception
            }
            return
        }
        guard case .listening(let tuning, _) = node.state,
            tuning.accessAddress == transmission.frame.accessAddress,
            tuning.modulation == transmission.frame.phy.modulation,
            strength >= configuration.propagation.sensitivity(transmission.frame.phy),
            !isDrowned(transmission, strength: strength, at: node),
            !happens(lossRate(from: transmission.sender, to: node))
        else { return }
        let isCorrupted = tuning.crcInit != transmission.frame.crcInit || happens(configuration.corruptionRate)
        node.reception = .init(transmission: transmission.id, strength: strength, isCorrupted: isCorrupted)
        transmission.receivers.append(node)
    }

    /// Whether what is on the channel already keeps a node from locking on to a new frame.
    private func isDrowned(_ transmission: Transmission, strength: Double, at node: RadioNode) -> Bool {
        active[Int(transmission.frame.channel)].contains { other in
            let interference = self.strength(power: other.power, from: other.position, to: node.position)
            return isAudible(interference) && strength - interference < configuration.propagation.captureThreshold
        }
    }

    /// Signals far below what any receiver hears disturb nobody.
    private func isAudible(_ strength: Double) -> Bool {
        strength >= configuration.propagation.sensitivityCodedS8 - configuration.propagation.captureThreshold
    }

    /// The last bit has left.
    private func finish(_ id: UInt64, channel: Int) {
        guard let index = active[channel].firstIndex(where: { $0.id == id }) else { return }
        let transmission = active[channel].remove(at: index)
        transmission.sender.state = .sleeping
        // Every receiver lets go of the frame before the first of them is told, and acts.
        var heard: [(RadioNode, RadioNode.Reception)] = []
        for node in transmission.receivers {
            guard let reception = node.reception, reception.transmission == id else { continue }
            node.reception = nil
            heard.append((node, reception))
        }
        transmission.sender.onSent?()
        for (node, reception) in heard {
            node.receive(
                ReceivedFrame(
                    frame: transmission.frame,
                    start: transmission.start,
                    rssi: reportedRSSI(reception.strength),
                    isCorrupted: reception.isCorrupted
                )
            )
        }
    }

    // MARK: Chance

    private func lossRate(from sender: RadioNode, to receiver: RadioNode) -> Double {
        if lossRates.isEmpty { return configuration.lossRate }
        return lossRates[Direction(from: sender.id, to: receiver.id)] ?? configuration.lossRate
    }

    private func happens(_ rate: Double) -> Bool {
        rate > 0 && random.unit() < rate
    }

    private func sniff(_ transmission: Transmission) {
        guard let onTransmission else { return }
        let power = transmission.power
        let strength = snifferPosition.map { self.strength(power: power, from: transmission.position, to: $0) } ?? power
        onTransmission(
            SniffedFrame(
                frame: transmission.frame,
                start: transmission.start,
                rssi: reportedRSSI(strength),
                sender: transmission.sender.id
            )
        )
    }
}
