import BluetoothTypes
import Logging
import ServiceProcess
import Synchronization

/// Whether the connection of a command to its service is up, and why it has ended.
final class ServiceWatch: Sendable {
    private struct State {
        var isOpen = false
        var ends = 0
        /// Why the service, or this program, refuses to connect again.
        var refusal: String?
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// The number of connections that have ended so far.
    var ends: Int { state.withLock { $0.ends } }

    func opened() { state.withLock { $0.isOpen = true } }

    func closed() {
        state.withLock { state in
            if state.isOpen { state.ends += 1 }
            state.isOpen = false
        }
    }

    /// Remembers a complaint of the connection. While the connection is up, it is the reason to end it for good.
    func complained(_ text: String) {
        let prefix = "Bluetooth is unsupported: "
        let reason = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        state.withLock { if $0.isOpen { $0.refusal = reason } }
    }

    /// Why a command cannot begin; nil if the connection is up, or can be expected soon.
    func obstacle(at path: String) -> ToolError? {
        if let error = dismissal { return error }
        if isOpen || ServicePath.isListening(path) { return nil }
        return .service("no service is running at \(path); start it again with `harald service`")
    }

    var loss: ToolError {
        dismissal ?? .service("the Bluetooth service has ended; start it again with `harald service`")
    }

    private var dismissal: ToolError? {
        state.withLock { $0.refusal }.map { .service("the Bluetooth service has dismissed this tool: \($0)") }
    }
}

/// Keeps the log of a connection from the terminal, where a prompt may be.
struct ServiceWatchLog: LogHandler {
    var logLevel = Logger.Level.error
    var metadata = Logger.Metadata()
    let watch: ServiceWatch

    func log(event: LogEvent) { watch.complained("\(event.message)") }
}

/// Connects as another dialer does, and reports the connections to a watch. Used on the event loop.
struct WatchedDialer: Dialer {
    let dialer: any Dialer
    let watch: ServiceWatch

    func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
        dialer.dial { [watch] result in
            if case .success = result { watch.opened() }
            completion(result.map { WatchedLine($0, watch) })
        }
    }
}

/// A connection whose end is reported to a watch. Used on the event loop.
private final class WatchedLine: MessageLine {
    private let line: any MessageLine
    private let watch: ServiceWatch
    var onClose: ((MessageLineError) -> Void)?

    init(_ line: any MessageLine, _ watch: ServiceWatch) {
        self.line = line
        self.watch = watch
        line.onClose = { [weak self, watch] error in
            watch.closed()
            self?.onClose?(error)
        }
    }

    var onReceive: ((PacketBuffer) -> Void)? {
        get { line.onReceive }
        set { line.onReceive = newValue }
    }
    var onRoom: ((Bool) -> Void)? {
        get { line.onRoom }
        set { line.onRoom = newValue }
    }
    var hasRoom: Bool { line.hasRoom }

    func send(_ message: PacketBuffer) { line.send(message) }
    func read(_ isReading: Bool) { line.read(isReading) }
    func lost(_ error: MessageLineError) { line.lost(error) }

    func close() {
        watch.closed()
        line.close()
    }
}
