import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where a person types.
protocol Keyboard: Sendable {
    /// Throws away what has been typed and not been read.
    func discardPending()
    /// Waits for what is typed; nil at the end. On a thread of its own.
    func read() -> [UInt8]?
}

/// Standard input: a terminal, or whatever stands in its place.
struct StandardInput: Keyboard {
    private static let chunk = 1_024
    /// Octets of a pipe or file that are thrown away at a time.
    private static let maximumDiscarded = 1 << 20

    func discardPending() {
        // A terminal also drops the line that has been begun.
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
