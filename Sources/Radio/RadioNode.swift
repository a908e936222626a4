import EventLoops

/// One antenna with one radio behind it: at any moment it sends, listens on one channel, or sleeps.
public final class RadioNode {
    /// Names a node on its radio, in the order of adding.
    public struct ID: Hashable, Comparable, Sendable {
        /// The number.
        public let number: Int

        /// Older nodes first.
        public static func < (a: ID, b: ID) -> Bool { a.number < b.number }
    }

    /// How long a node has used its radio.
    public struct AirTime: Hashable, Sendable {
        /// Sending, in microseconds.
        public var sending: Int64 = 0
        /// Listening, whether something came or not, in microseconds.
        public var listening: Int64 = 0
        /// Frames sent.
        public var framesSent = 0
        /// Frames received, corrupted ones too.
        public var framesReceived = 0

        /// The given times in microseconds, and numbers of frames.
        public init(sending: Int64 = 0, listening: Int64 = 0, framesSent: Int = 0, framesReceived: Int = 0) {
            self.sending = sending
            self.listening = listening
            self.framesSent = framesSent
            self.framesReceived = framesReceived
        }
    }

    enum State {
        case sleeping
        case listening(RadioTuning, since: Instant)
        case sending
    }

    /// A frame that is coming in.
    struct Reception {
        var transmission: Transmission
        var strength: Double
        var isCorrupted: Bool
    }

    /// Which node it is.
    public let id: ID
    /// Where it is. Frames on the air keep the strength that they began with.
    public var position: Position
    /// Called when the first bit of a frame for this receiver arrives: a window may have to stay open. It must neither
    /// send nor retune.
    public var onFrameStart: (() -> Void)?
    /// Takes each frame that was heard from its beginning to its end. The node still listens as before.
    public var onFrame: ((ReceivedFrame) -> Void)?
    /// Called when a frame of this node has left; the node sleeps then.
    public var onSent: (() -> Void)?

    var state = State.sleeping
    var reception: Reception?
    private var used = AirTime()
    private let radio: Radio

    init(id: ID, position: Position, radio: Radio) {
        self.id = id
        self.position = position
        self.radio = radio
    }

    /// Whether a frame is coming in.
    public var isReceiving: Bool { reception != nil }

    /// Whether a frame is going out.
    public var isSending: Bool {
        if case .sending = state { return true }
        return false
    }

    /// How long the radio was in use up to now.
    public var airTime: AirTime {
        var total = used
        if case .listening(_, let since) = state { total.listening += radio.loop.now.microseconds(since: since) }
        return total
    }

    /// Listens from now on. What comes in at this moment on another setting is lost. Does nothing while sending.
    public func listen(_ tuning: RadioTuning) {
        guard !isSending, tuning.channel < RadioChannel.count else { return }
        if case .listening(let current, _) = state, current == tuning { return }
        sleep()
        state = .listening(tuning, since: radio.loop.now)
        radio.addListener(self, channel: tuning.channel)
    }

    /// Stops listening. Does nothing while sending.
    public func sleep() {
        guard case .listening(let tuning, let since) = state else { return }
        used.listening += radio.loop.now.microseconds(since: since)
        radio.removeListener(self, channel: tuning.channel)
        reception = nil
        state = .sleeping
    }

    /// Sends a frame, beginning now. A node that listens stops to; one that sends already ignores the call.
    ///
    /// - Parameter power: in dBm.
    public func send(_ frame: RadioFrame, power: Double = 0) {
        guard !isSending, frame.channel < RadioChannel.count else { return }
        var frame = frame
        radio.onSend?(&frame)
        guard frame.channel < RadioChannel.count else { return }
        sleep()
        state = .sending
        used.sending += frame.airTimeMicroseconds
        used.framesSent += 1
        radio.transmit(frame, from: self, power: power)
    }

    func receive(_ frame: ReceivedFrame) {
        used.framesReceived += 1
        onFrame?(frame)
    }
}
