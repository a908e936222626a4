import CLinux
import Foundation
import HCITransports
import Synchronization

/// A kernel for tests with scripted adapters. Its HCI sockets are one end of a socket pair that preserves packet
/// boundaries, as HCI sockets do; the test owns the other end.
package final class StandInKernel: KernelCalls {
    package struct Adapter: Sendable {
        package var address: UInt64
        package var bus: UInt8
        package var isUp: Bool
        /// Whether another program holds the adapter.
        package var isTaken: Bool

        package init(address: UInt64 = 0xC0FF_EE00_0001, bus: UInt8 = 0, isUp: Bool = false, isTaken: Bool = false) {
            self.address = address
            self.bus = bus
            self.isUp = isUp
            self.isTaken = isTaken
        }
    }

    /// The scripted state and the recorded calls.
    package struct State: Sendable {
        package var adapters: [UInt16: Adapter] = [:]
        package var openError: Int32?
        package var downErrors: [Int32] = []
        package var upErrors: [Int32] = []
        package var portErrors: [Int32] = []
        package var bindErrors: [Int32] = []
        package var writeErrors: [Int32] = []
        /// Whether the management channel answers.
        package var manages = true
        /// The calls made, except queries.
        package var asked: [String] = []
        /// The octets of each packet written to an adapter.
        package var written: [[UInt8]] = []
        /// The other ends of open sockets.
        package var others: [Int32: Int32] = [:]
        package var bindings: [Int32: HCIBinding] = [:]
        package var paused: UInt32 = 0
        /// Called while a caller pauses.
        package var onPause: (@Sendable () -> Void)?
    }

    package let state: Mutex<State>

    package init(_ adapters: [UInt16: Adapter] = [:], openError: Int32? = nil) {
        state = Mutex(State(adapters: adapters, openError: openError))
    }

    deinit {
        for other in state.withLock({ $0.others.values.map { $0 } }) { Foundation.close(other) }
    }

    package func openSocket() throws(ErrorNumber) -> Int32 {
        if let error = state.withLock({ $0.openError }) { throw ErrorNumber(error) }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, harald_SOCK_SEQPACKET | harald_SOCK_NONBLOCK, 0, &ends) == 0 else {
            throw ErrorNumber(errno)
        }
        let (near, far) = (ends[0], ends[1])
        state.withLock { $0.others[near] = far }
        return near
    }

    package func bind(_ socket: Int32, to adapter: UInt16, channel: HCIChannel) throws(ErrorNumber) {
        if channel == .control { return try bindControl(socket) }
        let error: Int32? = state.withLock { state in
            state.asked.append("bind hci\(adapter)")
            if !state.bindErrors.isEmpty { return state.bindErrors.removeFirst() }
            guard let found = state.adapters[adapter] else { return ENODEV }
            if found.isUp || found.isTaken { return EBUSY }
            state.adapters[adapter]?.isTaken = true
            state.adapters[adapter]?.isUp = true
            state.bindings[socket] = HCIBinding(adapter: adapter, channel: channel.rawValue)
            return nil
        }
        if let error { throw ErrorNumber(error) }
    }

    /// Queues the answer to the management command that will follow.
    private func bindControl(_ socket: Int32) throws(ErrorNumber) {
        let (other, managed) = state.withLock { state in
            (state.manages ? state.others[socket] : nil, state.adapters.filter { !$0.value.isTaken }.keys.sorted())
        }
        guard let other else { throw ErrorNumber(EINVAL) }
        let list = managed.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8), 0, 0] }
        let answer: [UInt8] =
            [0x01, 0, 0xFF, 0xFF, UInt8(5 + list.count), 0, 0x3C, 0, 0, UInt8(managed.count), 0] + list
        _ = send(other, answer, answer.count, 0)
    }

    package func takeDown(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber) {
        let error: Int32? = state.withLock { state in
            state.asked.append("down hci\(adapter)")
            if !state.downErrors.isEmpty { return state.downErrors.removeFirst() }
            guard state.adapters[adapter]?.isTaken == false else { return EBUSY }
            state.adapters[adapter]?.isUp = false
            return nil
        }
        if let error { throw ErrorNumber(error) }
    }

    package func bringUp(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber) {
        let error: Int32? = state.withLock { state in
            state.asked.append("up hci\(adapter)")
            if !state.upErrors.isEmpty { return state.upErrors.removeFirst() }
            guard state.adapters[adapter]?.isTaken == false else { return EBUSY }
            state.adapters[adapter]?.isUp = true
            return nil
        }
        if let error { throw ErrorNumber(error) }
    }

    package func resetPort(_ node: String) throws(ErrorNumber) {
        let error: Int32? = state.withLock { state in
            state.asked.append("reset \(node)")
            return state.portErrors.isEmpty ? nil : state.portErrors.removeFirst()
        }
        if let error { throw ErrorNumber(error) }
    }

    package func adapters(by socket: Int32) throws(ErrorNumber) -> [UInt16] {
        // Not in ascending order, because the kernel does not sort them either.
        state.withLock { $0.adapters.keys.sorted(by: >) }
    }

    package func information(on adapter: UInt16, by socket: Int32) throws(ErrorNumber) -> [UInt8] {
        guard let found = state.withLock({ $0.adapters[adapter] }) else { throw ErrorNumber(ENODEV) }
        var octets = [UInt8](repeating: 0, count: 92)
        octets[0] = UInt8(adapter & 0xFF)
        for index in 0..<6 { octets[10 + index] = UInt8(truncatingIfNeeded: found.address >> (8 * index)) }
        octets[16] = found.isUp ? 0b101 : 0
        octets[20] = found.bus
        return octets
    }

    package func binding(of socket: Int32) -> HCIBinding? { state.withLock { $0.bindings[socket] } }

    package func wait(for socket: Int32, milliseconds: Int32) -> Bool {
        LinuxCalls().wait(for: socket, milliseconds: milliseconds)
    }

    package func read(_ socket: Int32, atMost count: Int) throws(ErrorNumber) -> [UInt8] {
        try LinuxCalls().read(socket, atMost: count)
    }

    package func write(_ octets: [UInt8], to socket: Int32) throws(ErrorNumber) {
        let error: Int32? = state.withLock { state in
            guard state.bindings[socket] != nil else { return nil }
            if !state.writeErrors.isEmpty { return state.writeErrors.removeFirst() }
            state.written.append(octets)
            return nil
        }
        if let error { throw ErrorNumber(error) }
        try LinuxCalls().write(octets, to: socket)
    }

    package func duplicate(_ socket: Int32) throws(ErrorNumber) -> Int32 { try LinuxCalls().duplicate(socket) }

    package func close(_ socket: Int32) {
        state.withLock { state in
            if let binding = state.bindings.removeValue(forKey: socket) {
                state.asked.append("close hci\(binding.adapter)")
                state.adapters[binding.adapter]?.isTaken = false
                state.adapters[binding.adapter]?.isUp = false
            }
            // The far end stays open, so that the test can detect the closing, except for sockets used for queries.
        }
        LinuxCalls().close(socket)
    }

    package func pause(milliseconds: UInt32) {
        let action = state.withLock { state in
            state.paused += milliseconds
            return state.onPause
        }
        action?()
    }

    // MARK: The controller's end

    /// The far end of the socket bound to this adapter.
    package func controller(of adapter: UInt16) -> Int32? {
        state.withLock { state in
            state.bindings.first { $0.value.adapter == adapter }.flatMap { state.others[$0.key] }
        }
    }

    /// The calls made since the last call of this method.
    package func takeAsked() -> [String] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
    }
}
