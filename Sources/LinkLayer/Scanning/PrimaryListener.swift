import BluetoothTypes
import EventLoops
import HCI
import Radio

/// Listens on the primary channels window by window, as far as nobody more important needs the radio, and on the
/// secondary ones where an AuxPtr leads. What scanning and initiating have in common.
class PrimaryListener: RadioUser {
    /// How late an answer may begin after an inter frame space, in microseconds.
    static let responseMargin: Int64 = 4
    /// Advertisements whose next PDU is waited for at most.
    static let maximumTrails = 8

    /// What the radio is used for.
    enum Phase {
        /// Listening in a window, if there is one.
        case window
        /// Listening for the PDU that an AuxPtr leads to.
        case following(AuxiliaryTrail)
        /// An answer is about to be sent, or on the air.
        case answering(RadioTuning)
        /// Listening for what comes back.
        case awaitingReply
    }

    private struct Pending {
        var trail: AuxiliaryTrail
        var task: ScheduledTask
    }

    let arbiter: RadioArbiter
    let loop: any EventLoop
    let random: RandomSource
    let power: Double
    let accuracy: ClockAccuracy
    /// Whether it is in use.
    private(set) var isEnabled = false
    private(set) var phase = Phase.window

    private var windows: [WindowTimer] = []
    private var deadline: ScheduledTask?
    private var pending: [Pending] = []

    init(arbiter: RadioArbiter, loop: any EventLoop, random: RandomSource, power: Double, accuracy: ClockAccuracy) {
        self.arbiter = arbiter
        self.loop = loop
        self.random = random
        self.power = power
        self.accuracy = accuracy
    }

    /// How important its windows are.
    var windowPriority: RadioPriority { .scanning }

    /// What its time counts as.
    private(set) lazy var share = arbiter.share(of: windowPriority == .initiating ? .initiating : .scanning)

    /// How important it is: what an AuxPtr leads to, or an answer, has no other time.
    var priority: RadioPriority {
        if case .window = phase { return windowPriority }
        return .following
    }

    /// Begins with a first window now.
    func begin(_ windows: [ScanWindows]) {
        end()
        isEnabled = true
        self.windows = windows.map { WindowTimer($0, loop: loop) { [unowned self] in windowChanged() } }
        for window in self.windows { window.start() }
    }

    /// Ends at once.
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

    /// Advertisements whose next PDU is waited for.
    var waitingTrails: Int { pending.count }

    /// The channel that is being listened to.
    var channel: UInt8 { current?.windows.channel ?? windows.first?.windows.channel ?? 37 }

    /// The PHY that is being listened to.
    var primaryPHY: LEPHY { current?.windows.phy ?? .le1M }

    // MARK: Windows

    /// The window that was opened last of those that are open.
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

    /// Listens if there is a window and the radio is to be had; else waits for either.
    func resume() {
        guard isEnabled, case .window = phase else { return }
        guard let windows = current?.windows else { return rest() }
        guard arbiter.claim(self) else { return arbiter.wait(self) }
        // A frame that is coming in is heard to its end before the channel changes.
        if arbiter.node.isReceiving { return }
        arbiter.node.listen(.advertising(channel: windows.channel, phy: windows.phy))
    }

    /// Gives the radio back between two windows, once nothing is coming in.
    private func rest() {
        guard case .window = phase, arbiter.owner === self, !arbiter.node.isReceiving else { return }
        arbiter.release(self)
    }

    /// Goes back to the windows.
    private func settle() {
        phase = .window
        clearDeadline()
        // What still comes in on another channel is of no use.
        if arbiter.owner === self { arbiter.node.sleep() }
        resume()
    }

    private func clearDeadline() {
        if let deadline { loop.cancel(deadline) }
        deadline = nil
    }

    // MARK: Auxiliary PDUs

    /// Listens for the next PDU of an advertisement when its time comes. False when that cannot be done.
    @discardableResult
    func follow(_ trail: AuxiliaryTrail) -> Bool {
        let isKnown = trail.leadsToAdvertisement && pending.contains { $0.trail.meets(trail) }
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

    // MARK: Answers

    /// Sends an answer one inter frame space after the frame that has just come in.
    func answer(_ pdu: AdvertisingPDU, on channel: UInt8, phy: LEPHY) {
        phase = .answering(.advertising(channel: channel, phy: phy))
        let frame = RadioFrame.advertising(pdu.encoded(), channel: channel, phy: phy.radioPHY)
        deadline = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            deadline = nil
            arbiter.node.send(frame, power: power)
        }
    }

    /// Whether there is time for an answer of so many microseconds, the space in front of it included.
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

    // MARK: For those who listen

    /// A frame has come in on a primary channel.
    func heard(_ frame: ReceivedFrame) {}
    /// What an AuxPtr led to has come in.
    func heard(_ frame: ReceivedFrame, on trail: AuxiliaryTrail) {}
    /// What an AuxPtr led to has not been heard.
    func lost(_ trail: AuxiliaryTrail) {}
    /// The answer has been sent: whether something comes back.
    func hasAnswered() -> Bool { false }
    /// Something has come in where the reply should.
    func heardReply(_ frame: ReceivedFrame) {}
    /// Nothing has come back, or the radio was lost before it could.
    func noReply() {}

    // MARK: Radio

    final func radioSent() {
        guard case .answering(let tuning) = phase else { return }
        let comesBack = hasAnswered()
        guard isEnabled else { return }
        if comesBack { awaitReply(tuning) } else { settle() }
    }

    final func radioHeardStart() {}

    final func radioReceived(_ frame: ReceivedFrame) {
        let before = phase
        switch before {
        case .answering: return
        case .window: break
        case .following: clearDeadline()
        // What has ended already began too early to be the reply.
        case .awaitingReply: if deadline != nil { return }
        }
        phase = .window
        switch before {
        case .following(let trail): heard(frame, on: trail)
        case .awaitingReply: heardReply(frame)
        case .window, .answering: heard(frame)
        }
        guard isEnabled, case .window = phase else { return }
        if case .window = before { resume() } else { settle() }
    }

    final func radioTaken() {
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

/// Opens and closes the windows of one PHY.
private final class WindowTimer {
    private(set) var windows: ScanWindows
    /// When the window that is open was opened.
    private(set) var opened: Instant?
    private let loop: any EventLoop
    private let onChange: () -> Void
    private var tasks: (next: ScheduledTask?, end: ScheduledTask?) = (nil, nil)

    init(_ windows: ScanWindows, loop: any EventLoop, onChange: @escaping () -> Void) {
        self.windows = windows
        self.loop = loop
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
            windows.advance()
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
