import BluetoothService
import Dispatch
import EventLoops
import Foundation
import HCITransports
import ServiceMessages
import Synchronization

/// The advice that a service in another process has for this program.
final class ServiceAdvice: Sendable {
    /// How long the service may take for its last words. It asks this process for places meanwhile.
    static let finalAdviceTimeout = DispatchTimeInterval.seconds(6)

    private struct State {
        var order: [String] = []
        var lines: [String: String] = [:]
        var refusal: String?
        var asked: UInt32?
    }

    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let client: LoopBound<ToolClient>

    /// Asks the service at `path` for advice for the apps of this process.
    init(path: String, loop: NIOEventLoop) {
        client = loop.make { ToolClient([SocketDialer(path: path, loop: loop)], loop: loop) }
        client.with { client in
            client.onEnd = { [weak self] in self?.end("\($0)") }
            client.open { [weak self] in self?.ask() }
        }
    }

    private func ask() {
        let asked = client.value.ask(.ownAdvice, onLine: { [weak self] in self?.add($0) }) { [weak self] result in
            if case .failure(let error) = result { self?.end(error.reason ?? "\(error.code)") } else { self?.end(nil) }
        }
        state.withLock { $0.asked = asked }
    }

    /// Notes a line of advice, which replaces an earlier one with a lower count.
    func add(_ text: String) {
        guard let advice = try? JSONDecoder().decode(AdviceStatus.self, from: Data(text.utf8)) else { return }
        let cause = advice.rule + advice.found
        state.withLock { state in
            if state.lines.updateValue(advice.line, forKey: cause) == nil { state.order.append(cause) }
        }
    }

    private func end(_ refusal: String?) {
        state.withLock { $0.refusal = refusal }
        ended.signal()
    }

    /// Ends the stream, and returns its lines, or the reason why there is no advice.
    func finish() -> [String] {
        let asked = state.withLock { $0.asked }
        client.with { if let asked { $0.stop(asked) } }
        _ = ended.wait(timeout: .now() + Self.finalAdviceTimeout)
        return state.withLock { state in
            if let refusal = state.refusal, state.order.isEmpty { return ["no advice: \(refusal)"] }
            return state.order.compactMap { state.lines[$0] }
        }
    }
}
