import EventLoops
import HCI

/// The simulated radio channel: which nodes receive a frame, at what strength, and which frames are lost.
///
/// A node receives a frame if it listens on the frame's channel, with its access address and modulation, from the first
/// bit to the last. Concurrent frames and interference on the channel corrupt the frame unless its strength exceeds
/// their sum by the capture threshold. The cost of a frame grows with the number of nodes listening on its channel
/// only.
public final class Radio {
    /// The settings that all nodes share.
    public struct Configuration: Sendable {
        /// The path loss model and the sensitivity of the receivers.
        public var propagation = Propagation()
        /// The fraction of frames, 0 to 1, that a receiver misses entirely.
        public var lossRate = 0.0
        /// The fraction of the received frames, 0 to 1, whose CRC is wrong.
        public var corruptionRate = 0.0
        /// The quality of individual channels, by channel index 0 to 39. It replaces the two rates above.
        public var channelQuality: [UInt8: AirQuality] = [:]
        /// Additional noise in dBm in 1 MHz, by channel index.
        ///
        /// Noise raises the weakest receivable signal by as much as it raises the noise floor. -106, the noise floor
        /// itself, raises it by 3 dB.
        public var channelNoise: [UInt8: Double] = [:]
        /// The sources of interference other than Bluetooth.
        public var interference: [Interference] = []
        /// The walls between the nodes. They weaken interference, too.
        public var walls: [Wall] = []

        /// Creates a configuration of free space without loss.
        public init() {}
    }

    /// The settings that all nodes share. May be changed while frames are on the air.
    public var configuration: Configuration {
        didSet { applyConfiguration() }
    }
    /// Called with every frame at its first bit, wherever it is sent and whichever node it is for.
    public var onTransmission: ((SniffedFrame) -> Void)?
    /// Called with every frame before it goes on the air. May modify it, to inject faults.
    public var onSend: ((inout RadioFrame) -> Void)?

    let loop: any EventLoop
    private let random: RandomSource
    private var conditions = AirConditions() {
        didSet { isIdeal = conditions.areIdeal }
    }
    /// The cached ``AirConditions/areIdeal``.
    private var isIdeal = true
    private var interference: [InterferenceProcess] = []
    private var interferenceSeed: UInt64?
    private var propagation: Propagation
    private var walls: [Wall] = []
    private var nodeCount = 0
    // Sorted by node ID, so that a run does not depend on the order in which nodes started listening.
    private var listeners: [[RadioNode]]
    private var active: [[Transmission]]
    private var sniffers: [RadioSniffer] = []

    /// Creates a radio channel without nodes.
    ///
    /// - Parameters:
    ///   - loop: The event loop on which all nodes run and whose clock times the frames.
    ///   - random: The source of chance for loss, corruption and interference.
    ///   - configuration: The settings that all nodes share.
    public init(loop: any EventLoop, random: RandomSource, configuration: Configuration = .init()) {
        self.loop = loop
        self.random = random
        self.configuration = configuration
        propagation = configuration.propagation
        listeners = Array(repeating: [], count: RadioChannel.count)
        active = Array(repeating: [], count: RadioChannel.count)
        applyConfiguration()
    }

    private func applyConfiguration() {
        propagation = configuration.propagation
        walls = configuration.walls
        conditions.apply(configuration)
        guard !configuration.interference.isEmpty else { return interference.removeAll() }
        let seed = interferenceSeed ?? random.next()
        interferenceSeed = seed
        interference = configuration.interference.enumerated().map { index, source in
            InterferenceProcess(source, seed: seed &+ UInt64(index) &* 0xD1B5_4A32_D192_ED03)
        }
    }

    /// Adds a node, initially asleep.
    ///
    /// - Parameter position: The position of the node, by default the origin.
    /// - Returns: The node.
    public func add(at position: Position = Position()) -> RadioNode {
        defer { nodeCount += 1 }
        return RadioNode(id: .init(number: nodeCount), position: position, radio: self)
    }

    /// Adds a sniffer. It does not affect what the nodes receive.
    ///
    /// - Parameter position: The position of the sniffer. With nil it receives everything at the transmit power,
    ///   without disturbance.
    public func addSniffer(at position: Position? = nil) -> RadioSniffer {
        let sniffer = RadioSniffer(at: position)
        sniffers.append(sniffer)
        return sniffer
    }

    /// Removes a sniffer. Does nothing if it was removed before.
    public func remove(_ sniffer: RadioSniffer) {
        sniffers.removeAll { $0 === sniffer }
    }

    /// Sets the quality of the path from one node to another; nil removes the setting, so that the more general one
    /// applies.
    ///
    /// - Parameters:
    ///   - quality: The quality, or nil to remove what was set.
    ///   - sender: The transmitting node.
    ///   - receiver: The receiving node. The reverse direction is unaffected.
    ///   - channel: The channel index 0 to 39; nil for all channels without a setting of their own.
    public func setQuality(
        _ quality: AirQuality?,
        from sender: RadioNode,
        to receiver: RadioNode,
        channel: UInt8? = nil
    ) {
        conditions.set(quality, .init(from: sender.id, to: receiver.id), channel: channel)
    }

    /// Returns the strength, in dBm, of a signal sent with `power` at another position, after the walls in between.
    ///
    /// - Parameters:
    ///   - power: The transmit power, in dBm.
    ///   - from: The position of the sender.
    ///   - to: The position of the receiver.
    public func strength(power: Double, from: Position, to: Position) -> Double {
        let arrived = power - propagation.loss(over: from.distance(to: to))
        guard !walls.isEmpty else { return arrived }
        return walls.reduce(arrived) { $1.stands(between: from, and: to) ? $0 - $1.attenuation : $0 }
    }

    /// Whether a signal of this strength, in dBm, can be received on a channel if nothing else is on the air.
    package func isReceivable(_ strength: Double, _ phy: RadioPHY = .le1M, channel: UInt8) -> Bool {
        strength >= threshold(phy, channel: channel)
    }

    /// Returns the distance in metres up to which a frame of this power, in dBm, can be received without a wall.
    package func range(power: Double, _ phy: RadioPHY = .le1M, channel: UInt8) -> Double {
        propagation.distance(with: power - threshold(phy, channel: channel))
    }

    /// The weakest signal that can be received on a channel, in dBm.
    private func threshold(_ phy: RadioPHY, channel: UInt8) -> Double {
        propagation.sensitivity(phy) + conditions.noiseRise(channel)
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

    // MARK: Quiet events

    /// The central ends of links by access address, where the peripheral ends find them.
    private var centrals: [UInt32: Central] = [:]

    private struct Central {
        weak var end: AnyObject?
    }

    /// Adds the central end of a link; nil removes it.
    func set(central: AnyObject?, of accessAddress: UInt32) {
        centrals[accessAddress] = central.map { Central(end: $0) }
    }

    func central(of accessAddress: UInt32) -> AnyObject? { centrals[accessAddress]?.end }

    // MARK: Channel Sounding

    /// The subevents in progress, by the access address of their links.
    private var meetings: [UInt32: SoundingMeeting] = [:]

    func joinSounding(_ link: UInt32, _ role: LESoundingRole, _ presence: SoundingPresence) {
        if role == .initiator {
            meetings[link, default: .init()].initiator = presence
        } else {
            meetings[link, default: .init()].reflector = presence
        }
    }

    func sounding(_ link: UInt32, _ role: LESoundingRole) -> SoundingPresence? {
        role == .initiator ? meetings[link]?.initiator : meetings[link]?.reflector
    }

    func leaveSounding(_ link: UInt32, _ role: LESoundingRole) {
        guard var meeting = meetings.removeValue(forKey: link) else { return }
        if role == .initiator { meeting.initiator = nil } else { meeting.reflector = nil }
        if meeting.initiator != nil || meeting.reflector != nil { meetings[link] = meeting }
    }

    /// Forgets the subevents of a link that has ended.
    func endSounding(_ link: UInt32) { meetings[link] = nil }

    /// Whether every frame goes on the air, for tests that compare both ways.
    var carriesEveryFrame = false

    /// Whether the frames of a link arrive for certain and without anything else noticing, as long as no task runs.
    var isQuiet: Bool {
        !carriesEveryFrame && onTransmission == nil && onSend == nil && interference.isEmpty && isIdeal
            && sniffers.allSatisfy { $0.onQuietFrames != nil } && active.allSatisfy { $0.isEmpty }
            && listeners[..<37].allSatisfy { $0.isEmpty }
    }

    /// Whether nothing is on the air on the primary advertising channels, so that a node hears nothing there as long as no
    /// task runs.
    var isSilent: Bool { !carriesEveryFrame && active[37...].allSatisfy { $0.isEmpty } }

    /// Whether nobody notices what is sent on the primary advertising channels, as long as no task runs.
    var isDeserted: Bool {
        !carriesEveryFrame && onTransmission == nil && onSend == nil && sniffers.isEmpty
            && listeners[37...].allSatisfy { $0.isEmpty }
    }

    /// Counts frames of quiet events, which are over.
    func pass(quietFrames count: Int) {
        for sniffer in sniffers { sniffer.onQuietFrames?(count) }
    }

    // MARK: Transmitting

    func transmit(_ frame: RadioFrame, from sender: RadioNode, power: Double) {
        let channel = Int(frame.channel)
        let transmission = Transmission(frame, from: sender, power: power, start: loop.now)
        active[channel].append(transmission)
        // By index: a node's `onFrameStart` may neither send nor retune, so the list does not change here.
        for index in listeners[channel].indices { arrive(transmission, at: listeners[channel][index]) }
        loop.schedule(at: transmission.end) { [self] in finish(transmission) }
        if let onTransmission { onTransmission(transmission.sniffed(strength: power)) }
        for sniffer in sniffers { sniff(transmission, by: sniffer) }
        for node in transmission.receivers { node.onFrameStart?() }
    }

    /// Handles the first bit of a frame at a node that listens on the channel.
    private func arrive(_ transmission: Transmission, at node: RadioNode) {
        if let reception = node.reception {
            // The receiver stays locked on to its frame; the new one only disturbs it.
            guard !reception.isCorrupted else { return }
            if isMasked(reception.transmission, reception.strength, at: node.position, node.id, from: loop.now) {
                node.corruptReception()
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
            !isMasked(transmission, strength, at: node.position, node.id, from: transmission.start, isLocking: true),
            !happens(quality.lossRate)
        else { return }
        let isDisturbed =
            !interference.isEmpty
            && isMasked(transmission, strength, at: node.position, node.id, from: transmission.start)
        let isCorrupted = tuning.crcInit != frame.crcInit || isDisturbed || happens(quality.corruptionRate)
        node.lock(on: transmission, strength: strength, isCorrupted: isCorrupted)
    }

    /// Handles the last bit of a frame.
    private func finish(_ transmission: Transmission) {
        let channel = Int(transmission.frame.channel)
        active[channel].removeAll { $0 === transmission }
        let sender = transmission.sender
        sender.endTransmission()
        // Ends the reception at every receiver before calling the first one, which may send or retune.
        var heard: [(RadioNode, RadioNode.Reception)] = []
        for node in transmission.receivers {
            if let reception = node.endReception(of: transmission) { heard.append((node, reception)) }
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
        isReceivable(strength, frame.phy, channel: frame.channel)
    }

    /// Whether everything else on a frame's channel is too strong for it at a position: the other frames on the air
    /// now, and the interference from `start` to the frame's end, or to the end of its access address.
    private func isMasked(
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
        return disturbance.isExceeded
    }

    // MARK: Sniffing

    private func sniff(_ transmission: Transmission, by sniffer: RadioSniffer) {
        guard let place = sniffer.position else {
            return sniffer.begin(transmission.sniffed(strength: transmission.power), transmission)
        }
        let frame = transmission.frame
        sniffer.disturb(channel: frame.channel) { isMasked($0, $1, at: place, nil, from: loop.now) }
        let strength =
            strength(power: transmission.power, from: transmission.position, to: place)
            - conditions.quality(channel: frame.channel).attenuation
        guard isStrongEnough(frame, strength) else { return }
        var sniffed = transmission.sniffed(strength: strength)
        sniffed.noise = reportedRSSI(propagation.noiseFloor + conditions.noiseRise(frame.channel))
        sniffed.isCorrupted = isMasked(transmission, strength, at: place, nil, from: transmission.start)
        sniffer.begin(sniffed, transmission, strength: strength)
    }

    // MARK: Chance

    private func happens(_ rate: Double) -> Bool {
        rate > 0 && random.unit() < rate
    }
}

/// The sum of what disturbs a frame at one position.
private struct Disturbance {
    /// The strongest harmless disturbance, in dBm.
    let limit: Double
    private(set) var isExceeded = false
    /// The only disturbance so far. The sum is computed when a second one arrives.
    private var first: Double?
    private var sum = 0.0

    init(limit: Double) {
        self.limit = limit
    }

    mutating func add(_ strength: Double) {
        if isExceeded || strength > limit { return isExceeded = true }
        guard let first else { return self.first = strength }
        if sum == 0 { sum = milliwatts(first) }
        sum += milliwatts(strength)
        if sum > milliwatts(limit) { isExceeded = true }
    }
}
