import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// One channel between the service and the two streams of an app: what has come and is not read, and how much may be written.
/// Everything may be called from any thread.
///
/// Bounded in both directions by ``ServiceLimits/channelWindow``: what is not read is not granted again, so that the peer has
/// to stop; and what the service has not passed on cannot be followed by more.
final class ChannelPipe: Sendable {
    enum Side {
        case input
        case output
    }

    fileprivate struct State {
        var input = StreamProgress()
        var output = StreamProgress()
        var received = OctetQueue()
        /// Octets that were read and not granted again.
        var ungranted = 0
        /// Octets that may be written.
        var room = ServiceLimits.channelWindow
        var end: ChannelEnd?
        /// The service knows that the app is through with it, or the app knows of the end.
        var isSettled = false
        /// Those who wait for something to be read, or for room: each is called once.
        var waiting: [UInt64: @Sendable () -> Void] = [:]
        var lastWaiting: UInt64 = 0
    }

    let inputEvents = StreamEvents()
    let outputEvents = StreamEvents()
    private let id: ChannelID
    private let link: ManagerLink
    private let state: Mutex<State>

    init(_ id: ChannelID, link: ManagerLink) {
        self.id = id
        self.link = link
        state = Mutex(State())
    }

    /// Takes the channel over: from now on the service tells what comes.
    func begin() {
        link.send(.grant(ServiceLimits.channelWindow), on: id)
    }

    /// The service says something.
    func take(_ event: ChannelEvent) {
        let waiting = state.withLock { state in
            switch event {
            case .received(let octets): if !state.input.isClosed { state.received.append(octets) }
            case .room(let count): state.room = min(state.room + max(count, 0), ServiceLimits.channelWindow)
            case .ended(let error):
                state.end = state.end ?? error.map { .failed($0.apiError) } ?? .inOrder
                state.isSettled = true
            }
            defer { state.waiting = [:] }
            return state.waiting
        }
        for (_, wake) in waiting.sorted(by: { $0.key < $1.key }) { wake() }
        callBack(.input)
        callBack(.output)
    }

    /// The app has let go of the channel: it is over, and what has come can still be read (behaviours 8.7, 8.8).
    func letGo() {
        let isLeft = state.withLock { state in
            defer { state.isSettled = true }
            return !state.isSettled
        }
        guard isLeft else { return }
        link.send(.close, on: id)
        take(.ended(nil))
    }
}

// MARK: - What streams ask

extension ChannelPipe {
    func open(_ side: Side) {
        state.withLock { $0[side].open() }
        callBack(side)
    }

    /// Closes a stream; with the second one the channel goes.
    func close(_ side: Side) {
        events(of: side).removeAll()
        let isOver = state.withLock { state in
            state[side].close()
            guard state.input.isClosed, state.output.isClosed, !state.isSettled else { return false }
            state.isSettled = true
            return true
        }
        if isOver { link.send(.close, on: id) }
    }

    func status(of side: Side) -> Stream.Status {
        state.withLock { $0[side].status($0.end(of: side)) }
    }

    func error(of side: Side) -> (any Error)? {
        state.withLock { state in
            if let error = state[side].error { return error }
            guard state[side].isOpen, case .failed(let error) = state.end(of: side) else { return nil }
            return error
        }
    }

    func isReady(_ side: Side) -> Bool {
        state.withLock { $0[side].isOpen && $0.isReady(side) }
    }

    func schedule(_ side: Side, in runLoop: RunLoop, _ mode: RunLoop.Mode) {
        events(of: side).schedule(in: runLoop, mode)
        callBack(side)
    }

    func setDelegate(_ delegate: (any StreamDelegate)?, of side: Side) {
        events(of: side).delegate = delegate
        callBack(side)
    }

    /// Reads what there is, or waits for it: 0 at the end, -1 when nothing can be read.
    func read(into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard !target.isEmpty else { return 0 }
        return attempt(.input) { $0.read(into: target) }
    }

    /// Writes as much as there is room for, or waits for room: -1 when nothing can be written.
    func write(_ octets: UnsafeBufferPointer<UInt8>) -> Int {
        guard !octets.isEmpty else { return 0 }
        return attempt(.output) { $0.write(octets) }
    }

    /// Reads as ``read(into:)`` does; nil when there is nothing yet, and then calls `wake` once that may have changed, unless
    /// ``stopWaiting(_:)`` has taken the number back.
    func read(
        into target: UnsafeMutableBufferPointer<UInt8>,
        orCall wake: @escaping @Sendable () -> Void
    ) -> ChannelAttempt {
        attemptOnce(.input, wake) { $0.read(into: target) }
    }

    /// Writes in the same way.
    func write(
        _ octets: UnsafeBufferPointer<UInt8>,
        orCall wake: @escaping @Sendable () -> Void
    ) -> ChannelAttempt {
        attemptOnce(.output, wake) { $0.write(octets) }
    }

    /// Somebody waits no longer.
    func stopWaiting(_ number: UInt64) {
        state.withLock { $0.waiting[number] = nil }
    }

    private typealias Act = (inout State) -> (Int, ChannelRequest?)?

    /// Does what a stream is asked to, as soon as that is possible.
    private func attempt(_ side: Side, _ act: Act) -> Int {
        while true {
            let semaphore = DispatchSemaphore(value: 0)
            let wake: @Sendable () -> Void = { semaphore.signal() }
            switch attemptOnce(side, link.canWait ? wake : nil, act) {
            case .done(let result): return result
            case .waiting: semaphore.wait()
            }
        }
    }

    private func attemptOnce(_ side: Side, _ wake: (@Sendable () -> Void)?, _ act: Act) -> ChannelAttempt {
        let outcome: ChannelAttempt = state.withLock { state in
            guard state[side].isOpen else { return .done(-1) }
            if let (count, request) = act(&state) {
                state[side].used()
                // Under the lock, so that two writers' octets go in the order in which they took room.
                if let request { link.send(request, on: id) }
                return .done(count)
            }
            if let end = state.end { return .done(state.useAfterEnd(side, end)) }
            guard let wake else { return .done(-1) }
            state.lastWaiting += 1
            state.waiting[state.lastWaiting] = wake
            return .waiting(state.lastWaiting)
        }
        if case .done = outcome { callBack(side) }
        return outcome
    }
}

/// What comes of trying to read or write.
package enum ChannelAttempt: Sendable {
    /// So many octets; 0 at the end of what can be read, -1 for an error.
    case done(Int)
    /// Nothing yet; somebody is called when that may have changed, by this number.
    case waiting(UInt64)
}

// MARK: - Delegates

extension ChannelPipe {
    private func events(of side: Side) -> StreamEvents {
        switch side {
        case .input: inputEvents
        case .output: outputEvents
        }
    }

    /// Has the delegate called if there is something to tell: one event at a time, so that nobody else on the run loop has to wait
    /// for a stream that never ends.
    private func callBack(_ side: Side) {
        let isDue = state.withLock { state in
            var progress = state[side]
            return state.next(of: &progress, side) != nil
        }
        guard isDue, let queue = events(of: side).callBack() else { return }
        link.call({ [self] in tell(side) }, on: queue)
    }

    private func tell(_ side: Side) {
        guard let (stream, delegate) = events(of: side).begin() else { return }
        let event = state.withLock { state in
            var progress = state[side]
            defer { state[side] = progress }
            return state.next(of: &progress, side)
        }
        guard let event else { return }
        delegate.stream(stream, handle: event)
        callBack(side)
    }
}

extension ChannelPipe.State {
    fileprivate subscript(_ side: ChannelPipe.Side) -> StreamProgress {
        get { side == .input ? input : output }
        set { if side == .input { input = newValue } else { output = newValue } }
    }

    fileprivate mutating func read(into target: UnsafeMutableBufferPointer<UInt8>) -> (Int, ChannelRequest?)? {
        guard received.count > 0 else { return nil }
        let count = received.read(into: target)
        ungranted += count
        // Not for each octet, and early enough that the peer need not stop.
        let isGranted = ungranted >= ServiceLimits.channelWindow / 4 && end == nil
        defer { if isGranted { ungranted = 0 } }
        return (count, isGranted ? .grant(ungranted) : nil)
    }

    fileprivate mutating func write(_ octets: UnsafeBufferPointer<UInt8>) -> (Int, ChannelRequest?)? {
        guard room > 0, end == nil else { return nil }
        let count = min(octets.count, room)
        room -= count
        return (count, .send(PacketBuffer(copying: octets.prefix(count))))
    }

    fileprivate func isReady(_ side: ChannelPipe.Side) -> Bool {
        switch side {
        case .input: received.count > 0
        case .output: room > 0 && end == nil
        }
    }

    /// What has come is read before the end.
    fileprivate func end(of side: ChannelPipe.Side) -> ChannelEnd? {
        side == .input && received.count > 0 ? nil : end
    }

    /// What comes of using a stream whose channel has ended: nothing more is there to be read, and to write is an error.
    fileprivate mutating func useAfterEnd(_ side: ChannelPipe.Side, _ end: ChannelEnd) -> Int {
        switch (side, end) {
        case (.input, .inOrder): return 0
        case (.output, .inOrder):
            output.failed(NSError(domain: NSPOSIXErrorDomain, code: Int(EPIPE)))
        case (_, .failed(let error)): self[side].failed(error)
        }
        return -1
    }

    fileprivate func next(of progress: inout StreamProgress, _ side: ChannelPipe.Side) -> Stream.Event? {
        progress.next(
            side == .input ? .hasBytesAvailable : .hasSpaceAvailable,
            isReady: isReady(side),
            end: end(of: side)
        )
    }
}
