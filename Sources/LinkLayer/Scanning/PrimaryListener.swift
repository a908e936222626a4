import BluetoothTypes
import EventLoops
import Radio

/// Listens on the primary channels window by window, as far as nobody more important needs the radio. What scanning and
/// initiating have in common.
class PrimaryListener: RadioUser {
    /// How late an answer may begin after an inter frame space, in microseconds.
    static let responseMargin: Int64 = 4

    let arbiter: RadioArbiter
    let loop: any EventLoop
    let random: RandomSource
    let power: Double
    /// Whether it is in use.
    private(set) var isEnabled = false

    private var windows = ScanWindows(interval: 16, window: 16)
    private var nextWindow: ScheduledTask?
    private var windowEnd: ScheduledTask?
    private var answerTask: ScheduledTask?
    private var isInWindow = false
    /// An answer that is about to be sent or waited for: the window does not move meanwhile.
    var isBusy = false

    init(arbiter: RadioArbiter, loop: any EventLoop, random: RandomSource, power: Double) {
        self.arbiter = arbiter
        self.loop = loop
        self.random = random
        self.power = power
    }

    /// How important it is.
    var priority: RadioPriority { .scanning }

    /// Begins with a first window now.
    func begin(_ windows: ScanWindows) {
        end()
        isEnabled = true
        self.windows = windows
        openWindow()
    }

    /// Ends at once.
    func end() {
        isEnabled = false
        isInWindow = false
        isBusy = false
        for task in [nextWindow, windowEnd, answerTask].compactMap({ $0 }) { loop.cancel(task) }
        (nextWindow, windowEnd, answerTask) = (nil, nil, nil)
        arbiter.remove(self)
    }

    /// The channel that is being listened to.
    var channel: UInt8 { windows.channel }

    // MARK: Windows

    private func openWindow() {
        nextWindow = loop.schedule(after: .microseconds(windows.interval)) { [unowned self] in
            windows.advance()
            openWindow()
        }
        isInWindow = true
        if !windows.isContinuous {
            windowEnd = loop.schedule(after: .microseconds(windows.window)) { [unowned self] in closeWindow() }
        }
        resume()
    }

    private func closeWindow() {
        windowEnd = nil
        isInWindow = false
        rest()
    }

    /// Listens if there is a window and the radio is to be had; else waits for either.
    func resume() {
        guard isEnabled, !isBusy else { return }
        guard isInWindow else { return rest() }
        guard arbiter.claim(self) else { return arbiter.wait(self) }
        // A frame that is coming in is heard to its end before the channel changes.
        if arbiter.node.isReceiving { return }
        arbiter.node.listen(tuning)
    }

    /// Gives the radio back between two windows, once nothing is coming in.
    private func rest() {
        guard !isBusy, arbiter.owner === self, !arbiter.node.isReceiving else { return }
        arbiter.release(self)
    }

    private var tuning: RadioTuning {
        RadioTuning(
            channel: windows.channel,
            accessAddress: AdvertisingPDU.accessAddress,
            crcInit: AdvertisingPDU.crcInit,
            modulation: .le1M
        )
    }

    // MARK: Answers

    /// Whether an answer is due after the inter frame space: what comes in meanwhile is passed over.
    var isAboutToAnswer: Bool { answerTask != nil }

    /// Sends an answer one inter frame space after the frame that has just come in.
    func answer(_ pdu: AdvertisingPDU, on channel: UInt8) {
        isBusy = true
        let frame = RadioFrame(
            channel: channel,
            accessAddress: AdvertisingPDU.accessAddress,
            crcInit: AdvertisingPDU.crcInit,
            phy: .le1M,
            pdu: pdu.encoded()
        )
        answerTask = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            answerTask = nil
            arbiter.node.send(frame, power: power)
        }
    }

    /// Whether there is time for an answer of so many microseconds, the space in front of it included.
    func hasTime(_ microseconds: Int64) -> Bool {
        arbiter.isFree(microseconds + LinkTiming.interFrameSpace, from: loop.now, for: self)
    }

    // MARK: Radio

    func radioSent() {}
    func radioHeardStart() {}
    func radioReceived(_ frame: ReceivedFrame) {}

    func radioTaken() {
        isBusy = false
        if let answerTask { loop.cancel(answerTask) }
        answerTask = nil
        if isEnabled, isInWindow { arbiter.wait(self) }
    }

    func radioFree() {
        resume()
    }
}
