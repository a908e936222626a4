import BluetoothService
import BluetoothTypes
import EventLoops
import HCITransports
import Logging
import NIOCore
import NIOPosix

/// Performs what ``ServiceLinkMachine`` says: the line to a service, as long as there is one. Lives on its loop.
final class ServiceLink {
    /// Octets that are read at once.
    private static let readAtOnce = 64 << 10

    var onMessage: ((ServiceMessage) -> Void)?
    /// The service is there, and knows nothing of what was before.
    var onOpen: (() -> Void)?
    /// There is none any more, or none at all: what managers see.
    var onLost: ((ManagerState) -> Void)?

    private let path: String
    private let hello: Hello
    private let loop: NIOEventLoop
    private let logger: Logger
    private var machine = ServiceLinkMachine()
    private var line: SocketLine?
    private var timer: ScheduledTask?
    private var isClosed = false

    init(path: String, hello: Hello, loop: NIOEventLoop, logger: Logger) {
        self.path = path
        self.hello = hello
        self.loop = loop
        self.logger = logger
    }

    func begin() { handle(.begin) }

    func send(_ message: PacketBuffer) {
        line?.send(message)
    }

    /// Ends it for good.
    func close() {
        isClosed = true
        if let timer { loop.cancel(timer) }
        line?.close()
        line = nil
    }

    private func handle(_ event: ServiceLinkMachine.Event) {
        guard !isClosed else { return }
        for action in machine.handle(event) { perform(action) }
    }

    private func perform(_ action: ServiceLinkMachine.Action) {
        switch action {
        case .connect: connect()
        case .greet: line?.send(Opening.app(hello).encoded())
        case .open: onOpen?()
        case .tell(let state): onLost?(state)
        case .complain(let text): logger.error("Bluetooth is unsupported: \(text)")
        case .wait(let pause):
            timer = loop.schedule(after: pause) { [weak self] in self?.handle(.timeIsUp) }
        case .close:
            line?.close()
            line = nil
        }
    }

    private func connect() {
        let link = LoopBound(self, loop: loop)
        ClientBootstrap(group: loop.nio)
            .channelOption(.autoRead, value: false)
            .connect(unixDomainSocketPath: path)
            .whenComplete { result in
                link.value.loop.arrive { link.value.connected(result) }
            }
    }

    private func connected(_ result: Result<any Channel, any Error>) {
        switch result {
        case .failure(let error):
            handle(.failed(.unreachable(path: path, reason: SocketLine.reason(of: error))))
        case .success(let channel):
            guard !isClosed else { return channel.close(promise: nil) }
            switch SocketLine.attach(to: channel, loop: loop, atOnce: Self.readAtOnce) {
            case .failure(let error): handle(.failed(error))
            case .success(let line):
                self.line = line
                line.onReceive = { [weak self] in self?.received($0) }
                line.onClose = { [weak self] in
                    self?.line = nil
                    self?.handle(.lost($0))
                }
                handle(.connected)
            }
        }
    }

    private func received(_ octets: PacketBuffer) {
        let message: ServiceMessage
        do throws(PacketError) {
            message = try ServiceMessage(reading: octets)
        } catch {
            line?.lost(.malformed("\(error)"))
            return
        }
        switch message {
        case .welcome(let welcome): handle(.welcomed(version: welcome.version))
        case .goodbye(let error): handle(.dismissed(error))
        case .event, .reply: if machine.isOpen { onMessage?(message) }
        }
    }
}
