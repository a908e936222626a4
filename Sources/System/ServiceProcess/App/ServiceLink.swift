import BluetoothTypes
import EventLoops
import Logging
import ServiceMessages

/// Executes the actions of ``ServiceLinkMachine``: keeps a connection to the service for as long as possible. Used on
/// its event loop.
final class ServiceLink {
    var onMessage: ((ServiceMessage) -> Void)?
    /// Called when the service accepts the connection. The session starts empty.
    var onOpen: (() -> Void)?
    /// Called when the connection is lost, or cannot be made, with the new state of the managers.
    var onLost: ((ManagerState) -> Void)?

    private let dialer: any Dialer
    private let hello: Hello
    private let loop: any EventLoop
    private let logger: Logger
    private var machine: ServiceLinkMachine
    private var line: (any MessageLine)?
    private var timer: ScheduledTask?
    private var isClosed = false

    init(_ dialer: any Dialer, hello: Hello, isLaunched: Bool, loop: any EventLoop, logger: Logger) {
        self.dialer = dialer
        machine = ServiceLinkMachine(isLaunched: isLaunched)
        self.hello = hello
        self.loop = loop
        self.logger = logger
    }

    func begin() { handle(.begin) }

    func send(_ message: PacketBuffer) {
        line?.send(message)
    }

    func close() {
        isClosed = true
        if let timer { loop.cancel(timer) }
        line?.close()
        line = nil
    }

    private func handle(_ event: ServiceLinkMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    private func perform(_ action: ServiceLinkMachine.Action) {
        switch action {
        case .connect: connect()
        case .sendHello: line?.send(Opening.app(hello).encoded())
        case .open: onOpen?()
        case .report(let state): onLost?(state)
        case .complain(let text): logger.error("Bluetooth is unsupported: \(text)")
        case .wait(let pause):
            timer = loop.schedule(after: pause) { [weak self] in self?.handle(.timeIsUp) }
        case .close:
            line?.close()
            line = nil
        }
    }

    private func connect() {
        dialer.dial { [weak self] result in
            guard let self, !isClosed else {
                if case .success(let line) = result { line.close() }
                return
            }
            switch result {
            case .failure(let error): handle(.failed(error))
            case .success(let line): connected(line)
            }
        }
    }

    private func connected(_ line: any MessageLine) {
        self.line = line
        line.onReceive = { [weak self] in self?.received($0) }
        line.onClose = { [weak self] in
            self?.line = nil
            self?.handle(.lost($0))
        }
        handle(.connected)
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
        case .welcome(let welcome): handle(.accepted(version: welcome.version))
        case .goodbye(let error): handle(.dismissed(error))
        case .event, .reply, .adviceWanted, .placeWanted: if machine.isOpen { onMessage?(message) }
        }
    }
}

/// Connects to a service. Used on the event loop.
package protocol Dialer {
    /// Tries to connect once. `completion` is called on the event loop.
    func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void)
}
