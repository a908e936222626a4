import BluetoothTypes
import EventLoops
import HCI

/// The common base of scanning and initiating. It listens on the primary channels during scan windows, and on the
/// secondary channels for the PDU to which an AuxPtr leads, unless a user of higher priority needs the radio.
class PrimaryListener: RadioClaimant {
    /// How late a response may start after the inter frame space, in microseconds.
    static let responseMargin: Int64 = 4
    /// The maximum number of advertisements whose next PDU is awaited.
    static let maximumTrails = 8

    /// The current use of the radio.
    enum Phase {
        /// Listening in a scan window, if one is open.
        case window
        /// Listening for the PDU to which an AuxPtr leads.
        case following(AuxiliaryTrail)
        /// A request is due or on the air.
        case answering(RadioTuning)
        /// Listening for the response to the request.
        case awaitingReply
    }

    private struct Pending {
        var trail: AuxiliaryTrail
        var task: ScheduledTask
    }

    let loop: any EventLoop
    let random: RandomSource
    private let virtualLoop: VirtualEventLoop?
    private let arbiter: RadioArbiter
    private let power: Double
    private let accuracy: ClockAccuracy
    private(set) var isEnabled = false
    private(set) var phase = Phase.window

    private var windows: [WindowTimer] = []
    private var deadline: ScheduledTask?
    private var pending: [Pending] = []

    init(arbiter: RadioArbiter, loop: any EventLoop, random: RandomSource, power: Double, accuracy: ClockAccuracy) {
        self.arbiter = arbiter
        self.loop = loop
        self.random = random
        virtualLoop = loop as? VirtualEventLoop
        self.power = power
        self.accuracy = accuracy
    }

    var windowPriority: RadioPriority { .scanning }

    /// The account of its radio use.
    private(set) lazy var share = arbiter.share(of: windowPriority == .initiating ? .initiating : .scanning)

    /// The priority, raised for auxiliary PDUs and responses, whose times cannot be changed.
    var priority: RadioPriority {
        if case .window = phase { return windowPriority }
        return .following
    }

    /// Starts listening, with the first window now.
    func begin(_ windows: [ScanWindows]) {
        end()
        isEnabled = true
        self.windows = windows.map { windows in
            WindowTimer(windows, loop: loop) { [unowned self] in
                passQuietWindows(after: $0)
            } onChange: { [unowned self] in
                windowChanged()
            }
        }
        for window in self.windows { window.start() }
    }

    func end() {
        isEnabled = false
        phase = .window
        for window in windows { window.stop() }
        windows = []
        for task in pending.map(\.task) { loop.cancel(task) }
        pending = []
        clearDeadline()
        arbiter.remove(self)
    }

    /// The number of advertisements whose next PDU is awaited.
    var waitingTrails: Int { pending.count }

    /// The channel of the current window.
    var channel: UInt8 { current?.windows.channel ?? windows.first?.windows.channel ?? 37 }

    /// The PHY of the current window.
    var primaryPHY: LEPHY { current?.windows.phy ?? .le1M }

    // MARK: Windows

    /// The open window that was opened last.
    private var current: WindowTimer? {
        var last: WindowTimer?
        for window in windows {
            guard let opened = window.opened, opened >= last?.opened ?? .zero else { continue }
            last = window
        }
        return last
    }

    private func windowChanged() {
        if current == nil { rest() } else { resume() }
    }

    /// Passes at once the windows after `former` that begin from now on before anything else happens, since nothing can
    /// be heard in them. Returns their number.
    private func passQuietWindows(after former: ScanWindows) -> Int {
        guard let virtualLoop, windows.count == 1, case .window = phase, arbiter.node.radio.isSilent,
            former.isContinuous ? arbiter.owner === self : arbiter.isIdle, let end = virtualLoop.horizon()
        else { return 0 }
        // A window that begins with something else is left to the tasks, whose order counts then.
        let count = Int((end.nanoseconds(since: loop.now) - 1) / (former.interval * 1_000))
        guard count > 0 else { return 0 }
        if former.isContinuous {
            retune(count, after: former)
        } else {
            arbiter.pass(listeningFor: former.window, former.phy.radioPHY.modulation, times: count, of: share)
        }
        virtualLoop.pass(to: loop.now + .microseconds(Int64(count) * former.interval))
        return count
    }

    /// Retunes the radio to the last one of `count` windows of a continuous scan, all of which begin with that.
    private func retune(_ count: Int, after former: ScanWindows) {
        var last = former
        last.advance(count)
        let node = arbiter.node
        node.sleep()
        node.listen(.advertising(channel: last.channel, phy: last.phy))
        node.countListening(0, last.phy.radioPHY.modulation, times: count - 1)
    }

    /// Listens if a window is open and the radio is available; otherwise waits for either.
    func resume() {
        guard isEnabled, case .window = phase else { return }
        guard let windows = current?.windows else { return rest() }
        guard arbiter.claim(self) else { return arbiter.wait(self) }
        // A frame in progress is received to its end before the channel changes.
        if arbiter.node.isReceiving { return }
        arbiter.node.listen(.advertising(channel: windows.channel, phy: windows.phy))
    }

    /// Releases the radio between two windows, unless a frame is in progress.
    private func rest() {
        guard case .window = phase, arbiter.owner === self, !arbiter.node.isReceiving else { return }
        arbiter.release(self)
    }

    /// Returns to the scan windows.
    private func settle() {
        phase = .window
        clearDeadline()
        // A frame in progress on another channel is of no use.
        if arbiter.owner === self { arbiter.node.sleep() }
        resume()
    }

    private func clearDeadline() {
        if let deadline = deadline.take() { loop.cancel(deadline) }
    }

    // MARK: Auxiliary PDUs

    /// Schedules listening for the next PDU of an advertisement. Returns false if it cannot be followed.
    @discardableResult
    func follow(_ trail: AuxiliaryTrail) -> Bool {
        let isKnown = trail.leadsToAdvertisement && pending.contains { $0.trail.overlaps(trail) }
        guard isEnabled, !isKnown, pending.count < Self.maximumTrails else { return false }
        let window = trail.window(accuracy)
        let task = loop.schedule(at: window.start) { [unowned self] in
            pending.removeAll { $0.trail.origin == trail.origin && $0.trail.pointer == trail.pointer }
            listen(trail, until: window.end)
        }
        pending.append(Pending(trail: trail, task: task))
        return true
    }

    private func listen(_ trail: AuxiliaryTrail, until end: Instant) {
        guard case .window = phase else { return lost(trail) }
        phase = .following(trail)
        guard arbiter.claim(self) else {
            phase = .window
            return lost(trail)
        }
        arbiter.node.sleep()
        arbiter.node.listen(.advertising(channel: trail.pointer.channel, phy: trail.secondaryPHY))
        deadline = loop.schedule(at: end) { [unowned self] in
            deadline = nil
            if arbiter.node.isReceiving { return }
            settle()
            lost(trail)
        }
    }

    // MARK: Requests

    /// Sends a request one inter frame space after the frame just received.
    func answer(_ pdu: AdvertisingPDU, on channel: UInt8, phy: LEPHY) {
        phase = .answering(.advertising(channel: channel, phy: phy))
        let frame = RadioFrame.advertising(pdu.encoded(), channel: channel, phy: phy.radioPHY)
        deadline = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            deadline = nil
            arbiter.node.send(frame, power: power)
        }
    }

    /// Whether there is time for an exchange of a number of microseconds, plus the inter frame space before it.
    func hasTime(_ microseconds: Int64) -> Bool {
        arbiter.isFree(microseconds + LinkTiming.interFrameSpace, from: loop.now, for: self)
    }

    private func awaitReply(_ tuning: RadioTuning) {
        phase = .awaitingReply
        arbiter.node.listen(tuning)
        let time = Duration.microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        deadline = loop.schedule(after: time) { [unowned self] in
            deadline = nil
            if arbiter.node.isReceiving { return }
            settle()
            noReply()
        }
    }

    // MARK: Methods for subclasses

    /// Called with a frame received on a primary channel.
    func receive(_ frame: ReceivedFrame) {}
    /// Called with the frame to which an AuxPtr led.
    func receive(_ frame: ReceivedFrame, on trail: AuxiliaryTrail) {}
    /// Called when the PDU to which an AuxPtr leads was not received.
    func lost(_ trail: AuxiliaryTrail) {}
    /// Called when the request has been sent. Returns whether to listen for a response.
    func hasAnswered() -> Bool { false }
    /// Called with a frame received in place of the response.
    func receiveReply(_ frame: ReceivedFrame) {}
    /// Called when no response was received, or when the radio was lost before.
    func noReply() {}

    // MARK: Radio

    final func radioSent() {
        guard case .answering(let tuning) = phase else { return }
        let comesBack = hasAnswered()
        guard isEnabled else { return }
        if comesBack { awaitReply(tuning) } else { settle() }
    }

    final func radioDetectedStart() {}

    final func radioReceived(_ frame: ReceivedFrame) {
        let before = phase
        switch before {
        case .answering: return
        case .window: break
        case .following: clearDeadline()
        // A frame that has just ended started too early to be the response.
        case .awaitingReply: if deadline != nil { return }
        }
        phase = .window
        switch before {
        case .following(let trail): receive(frame, on: trail)
        case .awaitingReply: receiveReply(frame)
        case .window, .answering: receive(frame)
        }
        guard isEnabled, case .window = phase else { return }
        if case .window = before { resume() } else { settle() }
    }

    final func radioLost() {
        let before = phase
        phase = .window
        clearDeadline()
        switch before {
        case .following(let trail): lost(trail)
        case .answering, .awaitingReply: noReply()
        case .window: break
        }
        if isEnabled, current != nil { arbiter.wait(self) }
    }

    final func radioFree() {
        resume()
    }
}

/// Opens and closes the scan windows of one PHY.
private final class WindowTimer {
    private(set) var windows: ScanWindows
    /// When the current window was opened; nil if none is open.
    private(set) var opened: Instant?
    private let loop: any EventLoop
    private let pass: (ScanWindows) -> Int
    private let onChange: () -> Void
    private var tasks: (next: ScheduledTask?, end: ScheduledTask?) = (nil, nil)

    /// - Parameters:
    ///   - pass: Called with the last window when the next one is due. Passes that and those after it at once, if possible,
    ///     and returns their number.
    ///   - onChange: Called when a window has opened or closed.
    init(
        _ windows: ScanWindows,
        loop: any EventLoop,
        pass: @escaping (ScanWindows) -> Int,
        onChange: @escaping () -> Void
    ) {
        self.windows = windows
        self.loop = loop
        self.pass = pass
        self.onChange = onChange
    }

    func start() {
        guard windows.delay > 0 else { return open() }
        tasks.next = loop.schedule(after: .microseconds(windows.delay)) { [unowned self] in open() }
    }

    func stop() {
        for task in [tasks.next, tasks.end].compactMap({ $0 }) { loop.cancel(task) }
        tasks = (nil, nil)
    }

    private func open() {
        opened = loop.now
        tasks.next = loop.schedule(after: .microseconds(windows.interval)) { [unowned self] in
            windows.advance(1 + pass(windows))
            open()
        }
        if !windows.isContinuous {
            tasks.end = loop.schedule(after: .microseconds(windows.window)) { [unowned self] in
                tasks.end = nil
                opened = nil
                onChange()
            }
        }
        onChange()
    }
}
