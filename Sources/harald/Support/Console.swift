import BluetoothTypes
import Foundation
import Logging
import Synchronization

/// Standard output and standard error, a whole line at a time from whatever thread, at once even into a pipe.
///
/// All that the tool says goes through here, and what comes from outside may be in any of it: so nothing that would steer the
/// terminal gets through, and a line is one line.
enum Console {
    private static let lock = Mutex(())

    static func line(_ text: String) {
        write(text, to: .standardOutput)
    }

    /// Several lines.
    static func lines(_ text: String) {
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) { line(String(part)) }
    }

    /// A line of JSON. What would not be seen is escaped as JSON has it, so that a program reads the same.
    static func json(_ text: String) {
        line(escaped(json: text))
    }

    static func escaped(json text: String) -> String {
        text.unicodeScalars.map { scalar in
            let shown = String(scalar)
            guard shown.visible != shown else { return shown }
            return shown.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }

    /// What went wrong.
    static func problem(_ text: String) {
        write(text, to: .standardError)
    }

    /// A line as it is written.
    static func octets(of text: String) -> Data { Data((text.visible + "\n").utf8) }

    private static func write(_ text: String, to handle: FileHandle) {
        let octets = octets(of: text)
        let error = lock.withLock { _ in
            octets.withUnsafeBytes { write($0, to: handle.fileDescriptor) }
        }
        // Standard error may be a log that is closed while the work goes on.
        if error == EPIPE, handle === FileHandle.standardOutput { readerIsGone() }
    }

    /// Writes all of `octets`, and returns 0, or the error number that stopped it.
    private static func write(_ octets: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // A terminal or pipe that other programs have made non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    // MARK: A reader that is gone

    private static let outlives = Atomic(false)

    /// Keeps the program going when the reader of standard output is gone. For services, whose users matter more than their log.
    static func outliveReader() {
        outlives.store(true, ordering: .relaxed)
        // Not SIG_IGN, which launched programs would inherit (execve(2)).
        signal(SIGPIPE) { _ in }
    }

    /// Ends the program as soon as the reader of standard output is gone, even when there is nothing to write: `head` ends a
    /// command that may wait for hours.
    static func endWithReader() {
        // Pipes, sockets and terminals have no position (lseek(2)).
        let isPipe = isatty(STDOUT_FILENO) == 0 && lseek(STDOUT_FILENO, 0, SEEK_CUR) == -1 && errno == ESPIPE
        guard isPipe else { return }
        Thread.detachNewThread {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            // Without events to wait for, this returns when the other end is closed.
            while poll(&output, 1, -1) < 0 {
                guard errno == EINTR else { return }
            }
            if output.revents & Int16(POLLERR | POLLHUP) != 0 { readerIsGone() }
        }
    }

    /// Ends the program the way that a filter ends when its reader has: quietly, by SIGPIPE, which SwiftNIO ignores otherwise.
    private static func readerIsGone() {
        guard !outlives.load(ordering: .relaxed) else { return }
        signal(SIGPIPE, SIG_DFL)
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
        raise(SIGPIPE)
    }
}

/// Writes what the rooms below log to standard error: standard output is for what was asked for.
struct ConsoleLog: LogHandler {
    let label: String
    var logLevel = Logger.Level.critical
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.map { " \($0)=\($1)" }.sorted().joined()
        Console.problem("\(event.level) \(label):\(details) \(event.message)")
    }
}
