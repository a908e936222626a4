import BluetoothTypes
import Foundation
import Synchronization

/// Claims an adapter from the kernel. Recognizes an adapter chosen by number when it reappears under another number.
package final class AdapterFinder: Sendable {
    /// The maximum number of attempts to claim an adapter that is busy without a holder, because its driver is still
    /// initializing it.
    static let maximumAttempts = 10
    /// The pause between two attempts, in milliseconds.
    static let pause: UInt32 = 200

    /// The maximum number of stale packets to discard from a kept socket. The kernel buffers fewer.
    static let maximumStale = 10_000

    /// An adapter that was claimed for this process.
    package struct Claimed: Hashable, Sendable {
        /// The user channel socket. The adapter is claimed as long as it is open.
        package var socket: Int32
        /// The place of the adapter (``HCITransport/place``).
        package var place: String
        /// The adapter's name, such as `hci0`.
        package var name: String
    }

    package let adapters: KernelAdapters
    var calls: any KernelCalls { adapters.calls }
    /// Keeps claimed sockets across restarts; nil for none.
    let keeper: (any AdapterKeeper)?
    // The socket kept from a previous process, until the first call that claims an adapter.
    private let kept: Mutex<Int32?>
    // The address of the adapter that was claimed last.
    private let last = Mutex<BluetoothAddress?>(nil)

    /// - Parameters:
    ///   - adapters: The adapters of this machine's kernel, or of another.
    ///   - kept: The socket of an adapter that a previous process claimed.
    ///   - keeper: Keeps sockets for the next process.
    package init(
        _ adapters: KernelAdapters = KernelAdapters(),
        kept: Int32? = nil,
        keeper: (any AdapterKeeper)? = nil
    ) {
        self.adapters = adapters
        self.kept = Mutex(kept)
        self.keeper = keeper
    }

    /// Claims the chosen adapter. Blocks for seconds while the driver loads firmware, so do not call it on a loop.
    package func claim(_ choice: AdapterChoice) throws(UserChannelError) -> Claimed {
        if let claimed = adoptKept(choice) { return claimed }
        let known = try adapters.list()
        guard !known.isEmpty else { throw .noAdapters }
        let candidates = candidates(for: choice, among: known)
        guard !candidates.isEmpty else { throw .noSuchAdapter("\(choice)", known: known.map(\.name)) }
        var reasons: [UserChannelError] = []
        for adapter in candidates {
            do throws(UserChannelError) {
                let socket = try claim(adapter)
                last.withLock { $0 = adapter.address ?? $0 }
                keeper?.keep(socket)
                return Claimed(socket: socket, place: adapter.place, name: adapter.name)
            } catch {
                reasons.append(error)
            }
        }
        if choice != .first, let reason = reasons.first { throw reason }
        throw .noneUsable(reasons)
    }

    /// Returns the adapter that a previous process claimed, if it is the chosen one. Discards what arrived after that
    /// process ended.
    private func adoptKept(_ choice: AdapterChoice) -> Claimed? {
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
        return Claimed(socket: socket, place: adapter.place, name: adapter.name)
    }

    /// Discards pending packets. Returns false if the adapter is gone.
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

    private func claim(_ adapter: KernelAdapter) throws(UserChannelError) -> Int32 {
        // Never take an adapter in use: bluetoothd's users would lose their keyboard in the middle of a word.
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
            throw UserChannelError(error, of: adapter.name, asked: "claiming it", holder: adapter.holder)
        }
        return socket
    }

    private func bind(_ socket: Int32, to adapter: KernelAdapter) throws(ErrorNumber) {
        for attempt in 1... {
            do throws(ErrorNumber) {
                // The kernel does not hand over an adapter while its own host has it up.
                try calls.takeDown(adapter.index, by: socket)
                return try calls.bind(socket, to: adapter.index, channel: .user)
            } catch {
                guard error.code == EBUSY, attempt < Self.maximumAttempts else { throw error }
                calls.pause(milliseconds: Self.pause)
            }
        }
    }
}

/// Keeps an adapter's socket open beyond the end of this process, so that no other program can claim the adapter before
/// the next process starts.
package protocol AdapterKeeper: Sendable {
    /// Keeps the socket until ``forget()`` is called.
    func keep(_ socket: Int32)
    /// Stops keeping the socket. Closing the remaining descriptor then returns the adapter to the kernel.
    func forget()
}
