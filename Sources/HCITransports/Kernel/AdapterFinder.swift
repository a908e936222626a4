import BluetoothTypes
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Takes an adapter from the kernel. An adapter that was named by its number is known again when it is back under another.
package final class AdapterFinder: Sendable {
    /// How often an adapter is asked for that nobody has and is busy all the same: its driver is still at work on it.
    static let maximumAttempts = 10
    /// How long to wait in between.
    static let pause: UInt32 = 200

    /// Packets that wait in a socket that was kept; the kernel has room for fewer.
    static let maximumStale = 10_000

    /// What has been taken.
    package struct Taken: Hashable, Sendable {
        /// The socket, which is the adapter as long as it is open.
        package var socket: Int32
        /// Where the adapter is (``HCITransport/place``).
        package var place: String
        /// `hci0`.
        package var name: String
    }

    package let adapters: KernelAdapters
    /// Takes the same controllers from the kernel's driver, by USB.
    package let usb: USBFinder
    var calls: any KernelCalls { adapters.calls }
    /// Keeps what is taken; nil where nobody does.
    let keeper: (any AdapterKeeper)?
    // What a process before this one had, if it was kept, until somebody has asked for it.
    private let kept: Mutex<Int32?>
    // The address of the one that was taken last.
    private let last = Mutex<BluetoothAddress?>(nil)

    /// On the kernel of this machine, or on another.
    ///
    /// - Parameters:
    ///   - kept: The socket of an adapter that was taken by a process before this one.
    ///   - keeper: Where sockets are kept for the next one.
    ///   - usb: What is plugged in; nil for what is plugged into this machine.
    package init(
        _ adapters: KernelAdapters = KernelAdapters(),
        kept: Int32? = nil,
        keeper: (any AdapterKeeper)? = nil,
        usb: (any USBCalls)? = nil
    ) {
        self.adapters = adapters
        self.usb = USBFinder(calls: usb ?? LibUSB.shared, adapters: adapters)
        self.kept = Mutex(kept)
        self.keeper = keeper
    }

    /// Takes the adapter that is meant. The driver may load firmware meanwhile, for seconds: not on a loop.
    package func take(_ choice: AdapterChoice) throws(UserChannelError) -> Taken {
        if let taken = takeKept(choice) { return taken }
        let known = try adapters.list()
        guard !known.isEmpty else { throw .noAdapters }
        let candidates = candidates(for: choice, among: known)
        guard !candidates.isEmpty else { throw .noSuchAdapter("\(choice)", known: known.map(\.name)) }
        var reasons: [UserChannelError] = []
        for adapter in candidates {
            do throws(UserChannelError) {
                let socket = try take(adapter)
                last.withLock { $0 = adapter.address ?? $0 }
                keeper?.keep(socket)
                return Taken(socket: socket, place: adapter.place, name: adapter.name)
            } catch {
                reasons.append(error)
            }
        }
        if choice != .first, let reason = reasons.first { throw reason }
        throw .noneUsable(reasons)
    }

    /// The one that a process before this one had, if it is meant. What it was told after that process ended is nothing to anybody.
    private func takeKept(_ choice: AdapterChoice) -> Taken? {
        let found = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        guard let socket = found else { return nil }
        let candidates = candidates(for: choice, among: (try? adapters.list()) ?? [])
        guard let binding = calls.binding(of: socket), binding.channel == HCIChannel.user.rawValue,
            let adapter = candidates.first(where: { $0.index == binding.adapter }), drain(socket)
        else {
            keeper?.forget()
            calls.close(socket)
            return nil
        }
        last.withLock { $0 = adapter.address ?? $0 }
        return Taken(socket: socket, place: adapter.place, name: adapter.name)
    }

    /// Reads what is there; false where the adapter is gone.
    private func drain(_ socket: Int32) -> Bool {
        for _ in 0..<Self.maximumStale {
            do throws(ErrorNumber) {
                guard try !calls.read(socket, atMost: UserChannelTransport.maximumLength).isEmpty else { return false }
            } catch {
                return error.code == EAGAIN
            }
        }
        return false
    }

    func candidates(for choice: AdapterChoice, among known: [KernelAdapter]) -> [KernelAdapter] {
        switch choice {
        case .first: return known
        case .address(let address): return known.filter { $0.address == address }
        case .attachment(let name): return known.filter { $0.attachment == name }
        case .number(let number):
            let last = last.withLock { $0 }
            let again = last.flatMap { last in known.first { $0.address == last } }
            return [again ?? known.first { $0.index == number }].compactMap { $0 }
        }
    }

    private func take(_ adapter: KernelAdapter) throws(UserChannelError) -> Int32 {
        // What a person uses is not taken away: bluetoothd would lose its keyboard in the middle of a word.
        if [.bluetoothd, .program].contains(adapter.holder) { throw .busy(adapter.name, adapter.holder) }
        let socket: Int32
        do throws(ErrorNumber) {
            socket = try calls.openSocket()
        } catch {
            throw UserChannelError(error, of: adapter.name, asked: "opening a socket")
        }
        do throws(ErrorNumber) {
            try bind(socket, to: adapter)
        } catch {
            calls.close(socket)
            throw UserChannelError(error, of: adapter.name, asked: "taking it", holder: adapter.holder)
        }
        return socket
    }

    private func bind(_ socket: Int32, to adapter: KernelAdapter) throws(ErrorNumber) {
        for attempt in 1... {
            do throws(ErrorNumber) {
                // The kernel gives up nothing that its own host has switched on.
                try calls.takeDown(adapter.index, by: socket)
                return try calls.bind(socket, to: adapter.index, channel: .user)
            } catch {
                guard error.code == EBUSY, attempt < Self.maximumAttempts else { throw error }
                calls.pause(milliseconds: Self.pause)
            }
        }
    }
}
