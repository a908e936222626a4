import EventLoops

/// The simulated air: who hears which frame, how strong, and what gets lost.
///
/// A node receives a frame if it listens on the frame's channel, with its access address and modulation, from its first
/// bit to its last. Other frames and interference on the channel at the same time spoil it unless it is stronger than all
/// of them together by the capture threshold. The work that a frame makes grows with the nodes that listen on its channel,
/// not with the others.
public final class Radio {
    /// What is the same for all nodes.
    public struct Configuration: Sendable {
        /// How signals spread.
        public var propagation = Propagation()
        /// The part of the frames, 0 to 1, that a receiver does not notice at all.
        public var lossRate = 0.0
        /// The part of the frames, 0 to 1, that arrives with a wrong CRC.
        public var corruptionRate = 0.0
        /// What counts on some channels in place of the two rates, by the channel index 0 to 39.
        public var channelQuality: [UInt8: AirQuality] = [:]
        /// Noise in dBm in 1 MHz, by the channel index: what is weaker than on a quiet channel by as much as the noise
        /// is stronger is not heard. -106, the noise floor, makes it 3 dB.
        public var channelNoise: [UInt8: Double] = [:]
        /// What disturbs and is no Bluetooth.
        public var interference: [Interference] = []

        /// Free space without loss.
        public init() {}
    }

    /// What is the same for all nodes; may be changed while frames fly.
    public var configuration: Configuration {
        didSet { takeConfiguration() }
    }
    /// Sees every frame at its first bit, wherever it is sent and whoever it is for.
    public var onTransmission: ((SniffedFrame) -> Void)?
    /// May change each frame before it goes on the air: for the injection of faults.
    public var onSend: ((inout RadioFrame) -> Void)?

    let loop: any EventLoop
    private let random: RandomSource
    private var conditions = AirConditions()
    private var interference: [InterferenceProcess] = []
    private var interferenceSeed: UInt64?
    private var propagation: Propagation
    private var nodeCount = 0
    // In the order of the nodes' numbers, so that a run does not depend on who began to listen first.
    private var listeners: [[RadioNode]]
    private var active: [[Transmission]]
    private var sniffers: [RadioSniffer] = []

    /// Empty air.
    public init(loop: any EventLoop, random: RandomSource, configuration: Configuration = .init()) {
        self.loop = loop
        self.random = random
        self.configuration = configuration
        propagation = configuration.propagation
        listeners = Array(repeating: [], count: RadioChannel.count)
        active = Array(repeating: [], count: RadioChannel.count)
        takeConfiguration()
    }

    private func takeConfiguration() {
        propagation = configuration.propagation
        conditions.take(configuration)
        guard !configuration.interference.isEmpty else { return interference.removeAll() }
        let seed = interferenceSeed ?? random.next()
        interferenceSeed = seed
        interference = configuration.interference.enumerated().map { index, source in
            InterferenceProcess(source, seed: seed &+ UInt64(index) &* 0xD1B5_4A32_D192_ED03)
        }
    }

    /// Adds a node that sleeps.
    public func add(at position: Position = Position()) -> RadioNode {
        defer { nodeCount += 1 }
        return RadioNode(id: .init(number: nodeCount), position: position, radio: self)
    }

    /// Adds a sniffer. It changes nothing about what the nodes hear.
    ///
    /// - Parameter position: Where it stands. Without a place it is next to every sender: it hears everything, with the
    ///   power that it is sent with, and nothing disturbs.
    public func addSniffer(at position: Position? = nil) -> RadioSniffer {
        let sniffer = RadioSniffer(at: position)
        sniffers.append(sniffer)
        return sniffer
    }

    /// Takes a sniffer away.
    public func remove(_ sniffer: RadioSniffer) {
        sniffers.removeAll { $0 === sniffer }
    }

    /// Sets how well a node hears another one; nil for what counts otherwise.
    ///
    /// - Parameter channel: The channel index 0 to 39; nil for all channels for which nothing else is set.
    public func setQuality(
        _ quality: AirQuality?,
        from sender: RadioNode,
        to receiver: RadioNode,
        channel: UInt8? = nil
    ) {
        conditions.set(quality, .init(from: sender.id, to: receiver.id), channel: channel)
    }

    /// How strong a signal that is sent with `power` is at another place, in dBm, with nothing in between.
    public func strength(power: Double, from: Position, to: Position) -> Double {
        power - propagation.loss(over: from.distance(to: to))
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
        let transmission = Transmission(frame, from: sender, power: power, start: loop.now)
        active[channel].append(transmission)
        // By index: whoever is told of a frame's start may neither send nor retune, so that the list stays as it is.
        for index in listeners[channel].indices { arrive(transmission, at: listeners[channel][index]) }
        loop.schedule(at: transmission.end) { [self] in finish(transmission) }
        if let onTransmission { onTransmission(transmission.sniffed(strength: power)) }
        for sniffer in sniffers { sniff(transmission, by: sniffer) }
        for node in transmission.receivers { node.onFrameStart?() }
    }

    /// The first bit reaches a node that listens on the channel.
    private func arrive(_ transmission: Transmission, at node: RadioNode) {
        if let reception = node.reception {
            // The receiver stays with the frame it has locked on to; the new one only disturbs.
            guard !reception.isCorrupted else { return }
            if isDrowned(reception.transmission, reception.strength, at: node.position, node.id, from: loop.now) {
                node.reception?.isCorrupted = true
            }
            return
        }
        let frame = transmission.frame
        guard case .listening(let tuning, _) = node.state, tuning.accessAddress == frame.accessAddress,
            tuning.modulation == frame.phy.modulation
        else { return }
        let quality = conditions.quality(from: transmission.sender.id, to: node.id, channel: frame.channel)
        let strength =
            strength(power: transmission.power, from: transmission.position, to: node.position) - quality.attenuation
        guard isStrongEnough(frame, strength),
            !isDrowned(transmission, strength, at: node.position, node.id, from: transmission.start, isLocking: true),
            !happens(quality.lossRate)
        else { return }
        let isDisturbed =
            !interference.isEmpty
            && isDrowned(transmission, strength, at: node.position, node.id, from: transmission.start)
        let isCorrupted = tuning.crcInit != frame.crcInit || isDisturbed || happens(quality.corruptionRate)
        node.reception = .init(transmission: transmission, strength: strength, isCorrupted: isCorrupted)
        transmission.receivers.append(node)
    }

    /// The last bit has left.
    private func finish(_ transmission: Transmission) {
        let channel = Int(transmission.frame.channel)
        active[channel].removeAll { $0 === transmission }
        let sender = transmission.sender
        sender.state = .sleeping
        // Every receiver lets go of the frame before the first of them is told, and acts.
        var heard: [(RadioNode, RadioNode.Reception)] = []
        for node in transmission.receivers {
            guard let reception = node.reception, reception.transmission === transmission else { continue }
            node.reception = nil
            heard.append((node, reception))
        }
        for sniffer in sniffers { sniffer.finish(transmission) }
        sender.onSent?()
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

    // MARK: Strength

    private func isStrongEnough(_ frame: RadioFrame, _ strength: Double) -> Bool {
        strength >= propagation.sensitivity(frame.phy) + conditions.noiseRise(frame.channel)
    }

    /// Whether all else that is on a frame's channel is too strong for it at a place: the other frames that are there
    /// now, and the interference from `start` to the frame's end, or to the end of its access address.
    private func isDrowned(
        _ transmission: Transmission,
        _ strength: Double,
        at place: Position,
        _ node: RadioNode.ID?,
        from start: Instant,
        isLocking: Bool = false
    ) -> Bool {
        let channel = transmission.frame.channel
        let others = active[Int(channel)]
        if others.count == 1, interference.isEmpty { return false }
        var disturbance = Disturbance(limit: strength - propagation.captureThreshold)
        for other in others where other !== transmission {
            let quality = node.map { conditions.quality(from: other.sender.id, to: $0, channel: channel) }
            disturbance.add(
                self.strength(power: other.power, from: other.position, to: place) - (quality?.attenuation ?? 0)
            )
        }
        let end = isLocking ? transmission.endOfAccessAddress : transmission.end
        for process in interference where process.source.channels.contains(channel) {
            guard process.isOn(from: start.microseconds, to: end.microseconds) else { continue }
            disturbance.add(self.strength(power: process.source.power, from: process.source.position, to: place))
        }
        return disturbance.isTooMuch
    }

    // MARK: Sniffing

    private func sniff(_ transmission: Transmission, by sniffer: RadioSniffer) {
        guard let place = sniffer.position else {
            return sniffer.begin(transmission.sniffed(strength: transmission.power), transmission)
        }
        let frame = transmission.frame
        sniffer.disturb(channel: frame.channel) { isDrowned($0, $1, at: place, nil, from: loop.now) }
        let strength =
            strength(power: transmission.power, from: transmission.position, to: place)
            - conditions.quality(channel: frame.channel).attenuation
        guard isStrongEnough(frame, strength) else { return }
        var sniffed = transmission.sniffed(strength: strength)
        sniffed.noise = reportedRSSI(propagation.noiseFloor + conditions.noiseRise(frame.channel))
        sniffed.isCorrupted = isDrowned(transmission, strength, at: place, nil, from: transmission.start)
        sniffer.begin(sniffed, transmission, strength: strength)
    }

    // MARK: Chance

    private func happens(_ rate: Double) -> Bool {
        rate > 0 && random.unit() < rate
    }
}

/// What disturbs a frame at one place.
private struct Disturbance {
    /// The strongest that does no harm, in dBm.
    let limit: Double
    private(set) var isTooMuch = false
    /// The only one so far; the sum is not made before there is a second one.
    private var first: Double?
    private var sum = 0.0

    init(limit: Double) {
        self.limit = limit
    }

    mutating func add(_ strength: Double) {
        if isTooMuch || strength > limit { return isTooMuch = true }
        guard let first else { return self.first = strength }
        if sum == 0 { sum = milliwatts(first) }
        sum += milliwatts(strength)
        if sum > milliwatts(limit) { isTooMuch = true }
    }
}
