import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

protocol Keyboard: Sendable {
    /// Discards input that has been typed but not read.
    func discardPending()
    /// Waits for input and returns it; nil at the end of the input. Blocks, so call it on a separate thread.
    func read() -> [UInt8]?
    /// Whether a prompt that appears now gets an answer. If not, the answer is no.
    var isAttended: Bool { get }
}

extension Keyboard {
    var isAttended: Bool { true }
}

/// Standard input: a terminal, a pipe or a file.
struct StandardInput: Keyboard {
    private static let chunk = 1_024
    /// The maximum number of octets of a pipe or file to discard at a time.
    private static let maximumDiscarded = 1 << 20

    func discardPending() {
        // A terminal also discards the unfinished line.
        guard tcflush(STDIN_FILENO, TCIFLUSH) != 0 else { return }
        var discarded = 0
        while discarded < Self.maximumDiscarded, isReady, let octets = read() { discarded += octets.count }
    }

    private var isReady: Bool {
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    func read() -> [UInt8]? {
        while true {
            var octets = [UInt8](repeating: 0, count: Self.chunk)
            let count = octets.withUnsafeMutableBytes { systemRead($0.baseAddress, $0.count) }
            if count > 0 { return Array(octets.prefix(count)) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}

private func systemRead(_ octets: UnsafeMutableRawPointer?, _ count: Int) -> Int { read(STDIN_FILENO, octets, count) }
