import BluetoothTypes
import CLinux
import Foundation
import Logging
import Synchronization

/// Standard output and standard error. Writes whole lines, unbuffered, from any thread.
///
/// All output of the tool goes through here. It may contain text from other devices, so characters that would control
/// the terminal are replaced, and a line stays one line.
enum Console {
    private static let lock = Mutex(())

    /// Opens `/dev/null` in place of standard streams that are closed. Otherwise the next file or socket would get the
    /// number of one, and with it the output of the program.
    static func openClosedStreams() {
        // The lowest free number is taken (open(2)).
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDWR)
        }
    }

    static func line(_ text: String) {
        write(text, to: .standardOutput)
    }

    static func lines(_ text: String) {
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) { line(String(part)) }
    }

    /// Writes a line of JSON. Invisible characters become JSON escapes, so that the decoded value is the same.
    static func json(_ text: String) {
        line(escaped(json: text))
    }

    static func escaped(json text: String) -> String {
        text.unicodeScalars.map { scalar in
            let shown = String(scalar)
            guard shown.visible != shown else { return shown }
            return shown.utf16.map { String(format: "\\u%04x", $0) }.joined()
        }.joined()
    }

    static func problem(_ text: String) {
        write(text, to: .standardError)
    }

    /// Writes a text to standard output without ending the line.
    static func prompt(_ text: String) {
        write(Data(text.visible.utf8), to: .standardOutput)
    }

    /// Writes lines that end with newlines in one piece. All of their characters have to be visible.
    static func write(visible lines: ArraySlice<UInt8>) {
        write(Data(lines), to: .standardOutput)
    }

    /// The encoded line, including its newline.
    static func octets(of text: String) -> Data { Data((text.visible + "\n").utf8) }

    private static func write(_ text: String, to handle: FileHandle) {
        write(octets(of: text), to: handle)
    }

    private static func write(_ octets: Data, to handle: FileHandle) {
        let error = lock.withLock { _ in
            octets.withUnsafeBytes { write($0, to: handle.fileDescriptor) }
        }
        // A closed standard error does not end the program: it may be a log.
        guard error != 0, handle === FileHandle.standardOutput else { return }
        if error == EPIPE { readerClosed() } else { outputFailed(error) }
    }

    /// Writes all of `octets`. Returns 0, or the error number.
    private static func write(_ octets: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // The terminal or pipe is non-blocking because another program made it so.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    // MARK: Lost output

    /// Ends the program with an error if the text that ArgumentParser prints, such as help, cannot be written.
    static func checkPrintedText() {
        atexit {
            // Not all streams: another thread may wait for input with the lock of that stream.
            let error = harald_flush_output()
            guard error != 0, error != EPIPE else { return }
            Console.problem(Console.lostOutput(error))
            _exit(1)
        }
    }

    private static func outputFailed(_ error: Int32) {
        guard !outlives.load(ordering: .relaxed) else { return }
        problem(lostOutput(error))
        // Not `exit`, which other threads may call at the same time.
        _exit(1)
    }

    private static func lostOutput(_ error: Int32) -> String {
        "harald: the output cannot be written: \(String(cString: strerror(error)))"
    }

    // MARK: Broken pipes

    private static let outlives = Atomic(false)

    /// Makes the program survive the loss of standard output. For services, which matter more than their log.
    static func ignoreBrokenPipe() {
        outlives.store(true, ordering: .relaxed)
        // Not SIG_IGN, which launched programs would inherit (execve(2)).
        signal(SIGPIPE) { _ in }
    }

    /// Ends the program as soon as the reader of standard output is gone, even if there is nothing to write: in a
    /// pipeline, `head` ends a command that might otherwise wait for hours.
    static func endWithReader() {
        // Pipes, sockets and terminals are not seekable (lseek(2)).
        let isPipe = isatty(STDOUT_FILENO) == 0 && lseek(STDOUT_FILENO, 0, SEEK_CUR) == -1 && errno == ESPIPE
        guard isPipe else { return }
        Thread.detachNewThread {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            // Without requested events, this only returns when the other end is closed.
            while poll(&output, 1, -1) < 0 {
                guard errno == EINTR else { return }
            }
            if output.revents & Int16(POLLERR | POLLHUP) != 0 { readerClosed() }
        }
    }

    /// Ends the program as a filter ends when its reader is gone: silently, by SIGPIPE, which SwiftNIO otherwise
    /// ignores.
    private static func readerClosed() {
        guard !outlives.load(ordering: .relaxed) else { return }
        signal(SIGPIPE, SIG_DFL)
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
        raise(SIGPIPE)
    }
}

extension LogHandler {
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
}

/// Writes the log of the modules below to standard error, because standard output is for results.
struct ConsoleLog: LogHandler {
    let label: String
    var logLevel = Logger.Level.critical
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) { self.label = label }

    func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.map { " \($0)=\($1)" }.sorted().joined()
        Console.problem("\(event.level) \(label):\(details) \(event.message)")
    }
}
