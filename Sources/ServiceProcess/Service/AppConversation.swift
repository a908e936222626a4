import BluetoothService
import BluetoothTypes
import EventLoops

/// What the process of an app and the service say to each other. On the loop.
final class AppConversation: Conversation {
    let app: App
    var dismiss: ((ServiceError) -> Void)?
    private let line: any MessageLine
    private let loop: any EventLoop
    private var sinks: [ManagerID: SocketSink] = [:]

    init(_ app: App, _ line: any MessageLine, loop: any EventLoop) {
        self.app = app
        self.line = line
        self.loop = loop
    }

    func begin() {}

    func received(_ message: PacketBuffer) throws(PacketError) -> String? {
        switch try AppMessage(reading: message) {
        case .openManager(let id, let role, let options):
            // A number stands for one manager, as long as that is there.
            guard sinks[id] == nil, id != .none else { return "manager \(id.rawValue) is there already" }
            let sink = SocketSink(line, manager: id, loop: loop)
            if sinks.count < ServiceLimits.managers { sinks[id] = sink }
            app.openManager(id, role, options, sink)
        case .closeManager(let id):
            sinks[id] = nil
            app.closeManager(id)
        case .request(let id, let request): app.handle(request, from: id)
        case .query(let id, let number, let query):
            line.send(ServiceMessage.reply(number: number, app.answer(query, from: id)).encoded())
        case .misuse(let text): app.noteMisuse(text)
        }
        return nil
    }

    func roomChanged(_ hasRoom: Bool) {
        guard hasRoom else { return app.detach() }
        for (id, sink) in sinks.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { app.attach(sink, to: id) }
    }

    func farewell(_ error: ServiceError) -> PacketBuffer { ServiceMessage.goodbye(error).encoded() }

    func ended() {
        // However it ended: a process that is gone without its managers is as one that has crashed (behaviour 10.15).
        app.happened(.ended(.crashed))
    }
}

/// Takes the events of one manager to its process.
private final class SocketSink: EventSink {
    private let line: LoopBound<any MessageLine>
    private let manager: ManagerID

    init(_ line: any MessageLine, manager: ManagerID, loop: any EventLoop) {
        self.line = LoopBound(line, loop: loop)
        self.manager = manager
    }

    var hasRoom: Bool { line.value.hasRoom }

    func take(_ event: Event, on loop: any EventLoop) {
        line.value.send(ServiceMessage.event(manager, event).encoded())
    }
}
