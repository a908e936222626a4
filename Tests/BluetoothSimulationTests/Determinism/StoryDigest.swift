import Synchronization

/// The story so far: its digest and its lines.
final class StoryDigest: Sendable {
    private struct State {
        // The digest is FNV-1a with 64 bits.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        var lines: [String] = []

        mutating func add(_ octets: some Sequence<UInt8>) {
            for octet in octets { digest = (digest ^ UInt64(octet)) &* 0x0100_0000_01b3 }
        }
    }

    private let state = Mutex(State())

    func add(_ line: String) {
        state.withLock { state in
            state.add(line.utf8)
            state.add([0x0A])
            state.lines.append(line)
        }
    }

    /// Adds captured octets to the digest without keeping them.
    func add(_ octets: [UInt8]) { state.withLock { $0.add(octets) } }

    var lines: [String] { state.withLock { $0.lines } }
    var count: Int { state.withLock { $0.lines.count } }

    var text: String {
        let digits = String(state.withLock { $0.digest }, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
