import CLinux
import Foundation

protocol Keyboard: Sendable {
    /// Discards input that has been typed but not read.
    func discardPending()
    /// Waits for input and returns it; nil at the end of the input. Blocks, so call it on a separate thread.
    func read() -> [UInt8]?
    /// Whether a prompt that appears now gets an answer. If not, the answer is no.
    var isAttended: Bool { get }
    /// Whether the program runs in the background of its terminal, whose input belongs to another program.
    var isInBackground: Bool { get }
}

extension Keyboard {
    var isAttended: Bool { true }
    var isInBackground: Bool { false }
}

/// Standard input: a terminal, a pipe or a file.
struct StandardInput: Keyboard {
    private static let chunk = 1_024
    /// The maximum number of octets of a pipe or file to discard at a time.
    private static let maximumDiscarded = 1 << 20
    /// The time between two looks whether the program is in the foreground again, in milliseconds.
    private static let backgroundPause: Int32 = 500

    var isInBackground: Bool {
        let foreground = tcgetpgrp(STDIN_FILENO)
        return foreground >= 0 && foreground != getpgrp()
    }

    func discardPending() {
        // Would stop the program by SIGTTOU (termios(3)).
        guard !isInBackground else { return }
        // A terminal also discards the unfinished line.
        guard tcflush(STDIN_FILENO, TCIFLUSH) != 0 else { return }
        var discarded = 0
        while discarded < Self.maximumDiscarded, isReady, let octets = read() { discarded += octets.count }
    }

    private var isReady: Bool {
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    /// Returns no octets while the program is in the background.
    func read() -> [UInt8]? {
        // Otherwise a read in the background of a terminal stops the program, with all that it serves (termios(3)).
        // With the signal blocked, the read fails instead.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTTIN)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        while true {
            var octets = [UInt8](repeating: 0, count: Self.chunk)
            let count = octets.withUnsafeMutableBytes { Foundation.read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { return Array(octets.prefix(count)) }
            let error = count < 0 ? errno : 0
            if error == EIO, isInBackground {
                _ = poll(nil, 0, Self.backgroundPause)
                return []
            }
            guard error == EINTR else { return nil }
        }
    }
}
