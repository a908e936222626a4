import EventLoops

/// A simulated antenna and transceiver. At any time it transmits, listens on one channel, or sleeps.
public final class RadioNode {
    /// The identifier of a node on its radio, in the order of creation.
    public struct ID: Hashable, Comparable, Sendable {
        /// The number of nodes added before this one.
        public let number: Int

        /// Orders nodes by age, the oldest first.
        public static func < (a: ID, b: ID) -> Bool { a.number < b.number }
    }

    /// How long and how often a node has used its transceiver.
    public struct AirTime: Hashable, Sendable {
        /// Time spent transmitting, in microseconds.
        public var sending: Int64 = 0
        /// Time spent listening, whether or not a frame arrived, in microseconds.
        public var listening: Int64 = 0
        /// The number of frames sent.
        public var framesSent = 0
        /// The number of frames received, including corrupted ones.
        public var framesReceived = 0

        /// Creates a record from times in microseconds and numbers of frames.
        ///
        /// - Parameters:
        ///   - sending: Time spent transmitting, in microseconds.
        ///   - listening: Time spent listening, whether or not a frame arrived, in microseconds.
        ///   - framesSent: The number of frames sent.
        ///   - framesReceived: The number of frames received, including corrupted ones.
        public init(sending: Int64 = 0, listening: Int64 = 0, framesSent: Int = 0, framesReceived: Int = 0) {
            self.sending = sending
            self.listening = listening
            self.framesSent = framesSent
            self.framesReceived = framesReceived
        }
    }

    /// How a node's air time divides among PHYs and transmit powers, and how often its receiver started.
    ///
    /// All of it is stored in line, so that counting a frame allocates nothing.
    public struct Breakdown: Hashable, Sendable {
        /// The number of transmit powers that a node tells apart.
        public static let maximumPowers = 8

        /// Time spent transmitting by PHY, in the order of ``RadioPHY/allCases``, in microseconds.
        public var sendingByPHY = SIMD4<Int64>()
        /// Time spent transmitting by transmit power, in the order of ``RadioNode/powers``, in microseconds.
        public var sendingByPower = SIMD8<Int64>()
        /// Time spent listening by modulation, in the order of ``RadioPHY/Modulation/allCases``, in microseconds.
        public var listeningByModulation = SIMD4<Int64>()
        /// The number of times the receiver was started or retuned.
        public var listens: Int64 = 0

        /// Creates a record without any use.
        public init() {}
    }

    enum State {
        case sleeping
        case listening(RadioTuning, since: Instant)
        case sending
    }

    /// A frame being received.
    struct Reception {
        var transmission: Transmission
        var strength: Double
        var isCorrupted: Bool
    }

    /// The identifier of the node on its radio.
    public let id: ID
    /// The position of the node. Frames on the air keep the strength they started with.
    public var position: Position
    /// Called at the first bit of a frame that the node receives, so that a receive window can stay open. It must
    /// neither send nor retune.
    public var onFrameStart: (() -> Void)?
    /// Called with each frame that was received from beginning to end. The node is still listening.
    public var onFrame: ((ReceivedFrame) -> Void)?
    /// Called when a transmission has ended. The node is asleep by then.
    public var onSent: (() -> Void)?

    private(set) var state = State.sleeping
    private(set) var reception: Reception?
    private var used = AirTime()
    private var divided = Breakdown()
    /// The transmit powers used so far in dBm, in the order of their first use.
    ///
    /// Their number is at most ``Breakdown/maximumPowers``. Time at any further power counts for the last one.
    public private(set) var powers: [Int8] = []
    let radio: Radio

    init(id: ID, position: Position, radio: Radio) {
        self.id = id
        self.position = position
        self.radio = radio
    }

    /// Whether the node is receiving a frame.
    public var isReceiving: Bool { reception != nil }

    /// Whether the node is transmitting a frame.
    public var isSending: Bool {
        if case .sending = state { return true }
        return false
    }

    /// How long and how often the transceiver has been used so far, including the current time spent listening.
    public var airTime: AirTime {
        var total = used
        if case .listening(_, let since) = state { total.listening += radio.loop.now.microseconds(since: since) }
        return total
    }

    /// The use of the transceiver so far by PHY and power, including the current time spent listening.
    public var breakdown: Breakdown {
        var total = divided
        if case .listening(let tuning, let since) = state {
            total.listeningByModulation[tuning.modulation.index] += radio.loop.now.microseconds(since: since)
        }
        return total
    }

    /// Starts listening. A frame being received with different settings is lost. Ignored while transmitting and for
    /// channels above 39.
    ///
    /// - Parameter tuning: The channel, access address, CRC and modulation to listen for.
    public func listen(_ tuning: RadioTuning) {
        guard !isSending, tuning.channel < RadioChannel.count else { return }
        if case .listening(let current, _) = state, current == tuning { return }
        sleep()
        state = .listening(tuning, since: radio.loop.now)
        divided.listens += 1
        radio.addListener(self, channel: tuning.channel)
    }

    /// Stops listening. A frame being received is lost. Ignored while transmitting.
    public func sleep() {
        guard case .listening(let tuning, let since) = state else { return }
        let time = radio.loop.now.microseconds(since: since)
        used.listening += time
        divided.listeningByModulation[tuning.modulation.index] += time
        radio.removeListener(self, channel: tuning.channel)
        reception = nil
        state = .sleeping
    }

    /// Starts transmitting a frame now. Listening stops. Ignored while another frame is being transmitted.
    ///
    /// - Parameters:
    ///   - frame: The frame. One with a channel above 39 is ignored.
    ///   - power: The transmit power in dBm.
    public func send(_ frame: RadioFrame, power: Double = 0) {
        guard !isSending, frame.channel < RadioChannel.count else { return }
        var frame = frame
        radio.onSend?(&frame)
        guard frame.channel < RadioChannel.count else { return }
        sleep()
        state = .sending
        used.sending += frame.airTimeMicroseconds
        used.framesSent += 1
        divided.sendingByPHY[frame.phy.index] += frame.airTimeMicroseconds
        divided.sendingByPower[index(of: power)] += frame.airTimeMicroseconds
        radio.transmit(frame, from: self, power: power)
    }

    /// Returns the place of a transmit power in ``powers``, to which a new one is added.
    private func index(of power: Double) -> Int {
        let level = power.isNaN ? 0 : Int8(min(max(power.rounded(), -128), 127))
        if let index = powers.firstIndex(of: level) { return index }
        if powers.count < Breakdown.maximumPowers { powers.append(level) }
        return powers.count - 1
    }

    // MARK: Quiet events

    /// Counts frames to which nobody listened.
    ///
    /// - Parameter listening: The time in microseconds that this node then listened for responses, in all.
    func countUnheard(_ frame: RadioFrame, power: Double, times count: Int, listening: Int64) {
        let time = frame.airTimeMicroseconds * Int64(count)
        used.sending += time
        used.framesSent += count
        divided.sendingByPHY[frame.phy.index] += time
        divided.sendingByPower[index(of: power)] += time
        guard listening > 0 else { return }
        used.listening += listening
        divided.listeningByModulation[frame.phy.modulation.index] += listening
        divided.listens += Int64(count)
    }

    /// Counts listening without frames, which began `count` times and lasted this many microseconds each time.
    func countListening(_ time: Int64, _ modulation: RadioPHY.Modulation, times count: Int) {
        used.listening += time * Int64(count)
        divided.listeningByModulation[modulation.index] += time * Int64(count)
        divided.listens += Int64(count)
    }

    /// Counts the steps of a subevent of Channel Sounding, which are no frames: the times in microseconds, on LE 1M.
    func countSounding(sending: Int64, listening: Int64, power: Double) {
        used.sending += sending
        used.listening += listening
        divided.sendingByPHY[RadioPHY.le1M.index] += sending
        divided.sendingByPower[index(of: power)] += sending
        divided.listeningByModulation[RadioPHY.le1M.modulation.index] += listening
    }

    /// Counts the frames of `count` exchanges.
    func countFrames(_ exchange: QuietExchange, times count: Int) {
        let sent = exchange.sendingTime * Int64(count)
        let received = exchange.receivingTime * Int64(count)
        used.sending += sent
        used.listening += received
        used.framesSent += count
        used.framesReceived += count
        divided.sendingByPHY[exchange.sent.index] += sent
        divided.sendingByPower[index(of: exchange.power)] += sent
        divided.listeningByModulation[exchange.received.modulation.index] += received
    }

    // MARK: The radio

    /// Locks the receiver on to a frame, of which the first bit has arrived.
    func lock(on transmission: Transmission, strength: Double, isCorrupted: Bool) {
        reception = Reception(transmission: transmission, strength: strength, isCorrupted: isCorrupted)
        transmission.lock(self)
    }

    /// Corrupts the frame being received.
    func corruptReception() {
        reception?.isCorrupted = true
    }

    /// Ends the reception of a frame, whose last bit has arrived; nil if the node no longer receives it.
    func endReception(of transmission: Transmission) -> Reception? {
        guard let reception, reception.transmission === transmission else { return nil }
        self.reception = nil
        return reception
    }

    /// Ends the transmission. The node is asleep now.
    func endTransmission() {
        state = .sleeping
    }

    func receive(_ frame: ReceivedFrame) {
        used.framesReceived += 1
        onFrame?(frame)
    }
}

/// An exchange of empty PDUs as one of the two nodes sees it.
struct QuietExchange {
    /// The length of an empty PDU, in octets.
    private static let octets = 2

    /// The PHY and the power, in dBm, of the frame that the node sends.
    let sent: RadioPHY
    let power: Double
    /// The PHY of the frame that it receives.
    let received: RadioPHY

    var sendingTime: Int64 { sent.airTimeMicroseconds(octets: Self.octets) }
    var receivingTime: Int64 { received.airTimeMicroseconds(octets: Self.octets) }
}
