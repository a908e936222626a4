import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// One channel between the service and an app's two streams: the octets that were received and not read, and the room
/// for writing. All methods may be called from any thread.
///
/// Both directions have backpressure within ``ServiceLimits/channelWindow``. Credit for received octets is granted when
/// they are read, so that the peer has to stop if the app does not read. Octets can be written only as far as the
/// service has passed on earlier ones.
final class ChannelPipe: ChannelReceiver {
    enum Side {
        case input
        case output
    }

    fileprivate struct State {
        var input = StreamProgress()
        var output = StreamProgress()
        var received = OctetQueue()
        /// The octets that were read and not granted again.
        var ungranted = 0
        var room = ServiceLimits.channelWindow
        var end: ChannelEnd?
        /// Whether the service knows that the app is done with the channel, or the app knows that the channel has
        /// ended.
        var isSettled = false
        /// The waits for octets or for room. Each function is called once.
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

    /// Grants the first window. From then on the service delivers what it receives.
    func begin() {
        link.send(.grant(ServiceLimits.channelWindow), on: id)
    }

    func receive(_ event: ChannelEvent) {
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

    /// Closes the channel after the app has released it. Received octets can still be read (behaviours 8.7, 8.8).
    func release() {
        let isLeft = state.withLock { state in
            defer { state.isSettled = true }
            return !state.isSettled
        }
        guard isLeft else { return }
        link.send(.close, on: id)
        receive(.ended(nil))
    }
}

// MARK: - Operations of streams

extension ChannelPipe {
    func open(_ side: Side) {
        state.withLock { $0[side].open() }
        callBack(side)
    }

    /// Closes a stream. With the second one the channel closes.
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

    /// Reads the octets that are there, or blocks until there are some. Returns 0 at the end and -1 if reading is
    /// impossible.
    func read(into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard !target.isEmpty else { return 0 }
        return attempt(.input) { $0.read(into: target) }
    }

    /// Writes as many octets as there is room for, or blocks until there is room. Returns -1 if writing is impossible.
    func write(_ octets: UnsafeBufferPointer<UInt8>) -> Int {
        guard !octets.isEmpty else { return 0 }
        return attempt(.output) { $0.write(octets) }
    }

    /// Reads like ``read(into:)``, without blocking. If there are no octets yet, `wake` is called once that may have
    /// changed, unless ``stopWaiting(_:)`` cancels the wait.
    func read(
        into target: UnsafeMutableBufferPointer<UInt8>,
        orCall wake: @escaping @Sendable () -> Void
    ) -> ChannelAttempt {
        attemptOnce(.input, wake) { $0.read(into: target) }
    }

    /// Writes like ``write(_:)``, without blocking. If there is no room, `wake` is called as for
    /// ``read(into:orCall:)``.
    func write(
        _ octets: UnsafeBufferPointer<UInt8>,
        orCall wake: @escaping @Sendable () -> Void
    ) -> ChannelAttempt {
        attemptOnce(.output, wake) { $0.write(octets) }
    }

    /// Cancels the wait with this number.
    func stopWaiting(_ number: UInt64) {
        state.withLock { $0.waiting[number] = nil }
    }

    private typealias Act = (inout State) -> (Int, ChannelRequest?)?

    /// Performs an action of a stream, blocking until it is possible.
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
                // Under the lock, so that the octets of two writers are sent in the order in which they took room.
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

/// The outcome of a read or a write.
package enum ChannelAttempt: Sendable {
    /// The number of octets: 0 at the end of the input, -1 for an error.
    case done(Int)
    /// Not possible yet. A wait with this number has begun.
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

    /// Schedules a call of the delegate if there is an event to report. One event at a time, so that a stream that
    /// never runs dry does not starve the other users of the run loop.
    private func callBack(_ side: Side) {
        let isDue = state.withLock { state in
            var progress = state[side]
            return state.next(of: &progress, side) != nil
        }
        guard isDue, let queue = events(of: side).callBack() else { return }
        link.call({ [self] in notify(side) }, on: queue)
    }

    private func notify(_ side: Side) {
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

    /// How the channel has ended, for one side. Received octets are read before the end.
    fileprivate func end(of side: ChannelPipe.Side) -> ChannelEnd? {
        side == .input && received.count > 0 ? nil : end
    }

    /// Handles the use of a stream whose channel has ended: there is nothing more to read, and writing is an error.
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
