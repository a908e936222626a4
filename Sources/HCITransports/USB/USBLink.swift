import Foundation
import HCI
import Synchronization

/// A controller on USB that has been taken, with the thread that waits for its transfers. Whatever happens, the end is in order: transfers are
/// ended and awaited, then the interface goes back to the kernel's driver, and only then the device is closed.
final class USBLink: Sendable {
    /// Milliseconds after which a controller that takes no packet never will.
    static let writeTimeout: UInt32 = 5_000

    private struct State {
        var underWay = 0
        /// Pipes whose endpoints are to go on.
        var halted: [USBPipe] = []
        var isFinishing = false
        /// Who wants the device to be reset before it goes back.
        var resets: [@Sendable (DeviceReset) -> Void] = []
        /// Whether it is too late for that.
        var isGivingBack = false
        /// Whether nothing may be asked of the connection any more.
        var isClosed = false
    }

    private let taken: USBFinder.Taken
    private let onEvent: @Sendable (USBMachine.Event) -> Void
    private let state = Mutex(State())
    private let finished = DispatchSemaphore(value: 0)

    /// Begins to wait. `onEvent` is called on a thread of its own, and by whoever asks for what fails at once.
    init(_ taken: USBFinder.Taken, onEvent: @escaping @Sendable (USBMachine.Event) -> Void) {
        self.taken = taken
        self.onEvent = onEvent
        USBLinks.add(self)
        let thread = Thread { [self] in run() }
        thread.name = "USB"
        thread.start()
    }

    // MARK: What is asked for, from any thread

    func read(_ pipe: USBPipe) {
        guard let endpoint = input(pipe) else { return }
        // One packet at a time: where a transfer has room for more, one whose last packet is full would not end.
        let transfer = USBTransfer(kind: endpoint.kind, endpoint: endpoint.address, content: .read(endpoint.size))
        submit(transfer) { .read(pipe, $0) }
    }

    func write(_ pipe: USBPipe, _ octets: [UInt8]) {
        var transfer: USBTransfer
        if pipe == .control {
            let setup = USBSetup.command(octets.count).octets
            transfer = USBTransfer(kind: .control, endpoint: 0, content: .write(setup + octets))
        } else {
            let output = taken.endpoints.bulkOut
            transfer = USBTransfer(kind: .bulk, endpoint: output.address, content: .write(octets))
            transfer.marksEnd = octets.count % output.size == 0
        }
        transfer.timeout = Self.writeTimeout
        submit(transfer) { .written(pipe, $0) }
    }

    func clear(_ pipe: USBPipe) {
        state.withLock { $0.halted.append(pipe) }
        wake()
    }

    /// Begins to end, and comes back at once.
    func finish() {
        state.withLock { $0.isFinishing = true }
        wake()
    }

    /// Begins to end, with a reset of the device before it goes back, and comes back at once. `completion` is called once, on the thread, when it
    /// has gone back; not where this is false, since it goes back already.
    func finish(resetting completion: @escaping @Sendable (DeviceReset) -> Void) -> Bool {
        let isInTime = state.withLock { state in
            guard !state.isGivingBack else { return false }
            state.isFinishing = true
            state.resets.append(completion)
            return true
        }
        wake()
        return isInTime
    }

    /// The thread may be done at any moment once it is to end, and the connection with it, so it is woken under the lock alone.
    private func wake() {
        state.withLock { state in
            if !state.isClosed { taken.connection.interrupt() }
        }
    }

    /// Waits until all has been given back; false where that takes too long.
    func waitUntilFinished(seconds: Int) -> Bool {
        guard finished.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        finished.signal()
        return true
    }

    private func input(_ pipe: USBPipe) -> USBDevice.Endpoint? {
        switch pipe {
        case .control: nil
        case .interrupt: taken.endpoints.interruptIn
        case .bulk: taken.endpoints.bulkIn
        }
    }

    private func submit(_ transfer: USBTransfer, event: @escaping @Sendable (USBOutcome) -> USBMachine.Event) {
        let mayBegin = state.withLock { state in
            guard !state.isFinishing else { return false }
            state.underWay += 1
            return true
        }
        guard mayBegin else { return }
        do throws(USBCallError) {
            try taken.connection.submit(transfer) { [self] outcome in
                state.withLock { $0.underWay -= 1 }
                onEvent(event(outcome))
            }
            // What began while the others were ended has to be ended too.
            if state.withLock({ $0.isFinishing }) { wake() }
        } catch {
            state.withLock { $0.underWay -= 1 }
            if state.withLock({ $0.isFinishing }) { wake() }
            onEvent(event(error == .noDevice ? .gone : .failed(error.code)))
        }
    }

    // MARK: The thread

    private func run() {
        while true {
            let (isFinishing, underWay, halted) = state.withLock { state in
                defer { state.halted = [] }
                return (state.isFinishing, state.underWay, state.halted)
            }
            if isFinishing {
                if underWay == 0 { break }
                taken.connection.cancelAll()
            } else {
                halted.forEach(goOn)
            }
            taken.connection.handleEvents()
        }
        giveBack()
    }

    /// The kernel answers this by itself, so it may take long: here, and not on the loop.
    private func goOn(_ pipe: USBPipe) {
        guard let endpoint = input(pipe) else { return }
        onEvent(.cleared(pipe, isDone: (try? taken.connection.clearHalt(endpoint.address)) != nil))
    }

    /// To the kernel's driver, whether or not there was one: a process before this one may not have come to it. A device that has been unplugged
    /// refuses all of it.
    private func giveBack() {
        let (connection, interface) = (taken.connection, taken.endpoints.interface)
        if taken.endpoints.isSerialized { try? connection.select(0, of: interface) }
        try? connection.release(interface)
        let resets = state.withLock { state in
            state.isGivingBack = true
            return state.resets
        }
        // In between, so that the driver begins once, and with a device that has been reset.
        let outcome = resets.isEmpty ? nil : connection.resetDevice()
        try? connection.attachDriver(interface)
        state.withLock { $0.isClosed = true }
        connection.close()
        USBLinks.remove(self)
        finished.signal()
        if let outcome { resets.forEach { $0(outcome) } }
    }
}

/// What this process has taken. A process that ends in order gives it back: the kernel does not call its driver by itself.
enum USBLinks {
    /// Seconds that the end of a process may be late by that.
    private static let patience = 3

    private static let links = Mutex<[ObjectIdentifier: USBLink]>([:])
    private static let atEnd: Void = {
        atexit { USBLinks.finishAll() }
    }()

    static func add(_ link: USBLink) {
        _ = atEnd
        links.withLock { $0[ObjectIdentifier(link)] = link }
    }

    static func remove(_ link: USBLink) { _ = links.withLock { $0.removeValue(forKey: ObjectIdentifier(link)) } }

    private static func finishAll() {
        let all = links.withLock { Array($0.values) }
        all.forEach { $0.finish() }
        for link in all { _ = link.waitUntilFinished(seconds: patience) }
    }
}
