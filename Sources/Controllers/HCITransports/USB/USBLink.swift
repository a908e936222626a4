import Foundation
import HCI
import Synchronization

/// A claimed USB controller, and the thread that waits for its transfers.
///
/// Shutdown is always orderly: transfers are cancelled and awaited, the interface returns to the kernel's driver, and
/// the device is closed last.
final class USBLink: Sendable {
    /// The time limit of a write, in milliseconds. A controller that accepts no packet for so long never will.
    static let writeTimeout: UInt32 = 5_000

    private struct State {
        var underWay = 0
        /// The pipes whose endpoints are to be cleared of a halt.
        var halted: [USBPipe] = []
        var isFinishing = false
        /// Completions of pending requests to reset the device before it is returned.
        var resets: [@Sendable (DeviceReset) -> Void] = []
        /// Whether it is too late for further resets.
        var isGivingBack = false
        /// Whether the connection has been closed and must not be called.
        var isClosed = false
    }

    private let claimed: USBFinder.Claimed
    private let onEvent: @Sendable (USBMachine.Event) -> Void
    private let state = Mutex(State())
    private let finished = DispatchSemaphore(value: 0)

    /// Starts the thread.
    ///
    /// - Parameter onEvent: Called on that thread, or on the caller's thread for a transfer that fails at once.
    init(_ claimed: USBFinder.Claimed, onEvent: @escaping @Sendable (USBMachine.Event) -> Void) {
        self.claimed = claimed
        self.onEvent = onEvent
        USBLinks.add(self)
        let thread = Thread { [self] in run() }
        thread.name = "USB"
        thread.start()
    }

    // MARK: Requests, from any thread

    func read(_ pipe: USBPipe) {
        guard let endpoint = input(pipe) else { return }
        // One packet at a time. A longer transfer would not complete after a full packet.
        let transfer = USBTransfer(kind: endpoint.kind, endpoint: endpoint.address, content: .read(endpoint.size))
        submit(transfer) { .read(pipe, $0) }
    }

    func write(_ pipe: USBPipe, _ octets: [UInt8]) {
        var transfer: USBTransfer
        if pipe == .control {
            let setup = USBSetup.command(octets.count).octets
            transfer = USBTransfer(kind: .control, endpoint: 0, content: .write(setup + octets))
        } else {
            let output = claimed.endpoints.bulkOut
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

    /// Starts to shut down, and returns at once.
    func finish() {
        state.withLock { $0.isFinishing = true }
        wake()
    }

    /// Starts to shut down with a reset of the device before it is returned.
    ///
    /// - Parameter completion: Called once, on the thread, when the device has been returned. Not called if this
    ///   returns false.
    /// - Returns: False if it is too late for a reset, because the device is already being returned.
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

    /// Interrupts the thread. Holds the lock, because a thread that is shutting down may close the connection at any
    /// time.
    private func wake() {
        state.withLock { state in
            if !state.isClosed { claimed.connection.interrupt() }
        }
    }

    /// Waits until the device has been returned. Returns false if that takes longer than `seconds`.
    func waitUntilFinished(seconds: Int) -> Bool {
        guard finished.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        finished.signal()
        return true
    }

    private func input(_ pipe: USBPipe) -> USBDevice.Endpoint? {
        switch pipe {
        case .control: nil
        case .interrupt: claimed.endpoints.interruptIn
        case .bulk: claimed.endpoints.bulkIn
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
            try claimed.connection.submit(transfer) { [self] outcome in
                state.withLock { $0.underWay -= 1 }
                onEvent(event(outcome))
            }
            // A transfer submitted while the others were being cancelled must be cancelled too.
            if state.withLock({ $0.isFinishing }) { wake() }
        } catch {
            state.withLock { $0.underWay -= 1 }
            if state.withLock({ $0.isFinishing }) { wake() }
            onEvent(event(error == .noDevice ? .gone : .failed(error.code)))
        }
    }

    // MARK: Thread

    private func run() {
        while true {
            let (isFinishing, underWay, halted) = state.withLock { state in
                defer { state.halted = [] }
                return (state.isFinishing, state.underWay, state.halted)
            }
            if isFinishing {
                if underWay == 0 { break }
                claimed.connection.cancelAll()
            } else {
                halted.forEach(goOn)
            }
            claimed.connection.handleEvents()
        }
        returnDevice()
    }

    /// Clears a halt. The kernel performs this request synchronously and may take long, so it runs here rather than on
    /// the loop.
    private func goOn(_ pipe: USBPipe) {
        guard let endpoint = input(pipe) else { return }
        onEvent(.cleared(pipe, isDone: (try? claimed.connection.clearHalt(endpoint.address)) != nil))
    }

    /// Returns the interface to the kernel's driver, even if none was attached: a previous process may have failed to
    /// return it. On an unplugged device, all of these calls fail.
    private func returnDevice() {
        let (connection, interface) = (claimed.connection, claimed.endpoints.interface)
        if claimed.endpoints.isSerialized { try? connection.select(0, of: interface) }
        try? connection.release(interface)
        let resets = state.withLock { state in
            state.isGivingBack = true
            return state.resets
        }
        // Reset in between, so that the driver initializes the device once, after the reset.
        let outcome = resets.isEmpty ? nil : connection.resetDevice()
        try? connection.attachDriver(interface)
        state.withLock { $0.isClosed = true }
        connection.close()
        USBLinks.remove(self)
        finished.signal()
        if let outcome { resets.forEach { $0(outcome) } }
    }
}

/// The controllers that this process has claimed. They are returned when the process exits normally, because the kernel
/// does not reattach its driver by itself.
enum USBLinks {
    /// The time limit for returning each device when the process exits, in seconds.
    private static let returnTimeout = 3

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
        for link in all { _ = link.waitUntilFinished(seconds: returnTimeout) }
    }
}
