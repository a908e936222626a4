import BluetoothService
import BluetoothTypes
import EventLoops
import ServiceMessages
import Synchronization

/// The conversation between the process of an app and the service. Used on the event loop.
final class AppConversation: Conversation {
    let app: App
    var dismiss: ((ServiceError) -> Void)?
    private let line: any MessageLine
    private let loop: any EventLoop
    private var sinks: [ManagerID: SocketSink] = [:]
    private let places: AppPlaces
    /// The number of the process among those that know their places. 0 before the beginning and after the end.
    private var number: UInt32 = 0
    /// The place in the app that the next message is about.
    private var site: CallSite?
    private var hasSentAdviceWanted = false

    init(_ app: App, _ line: any MessageLine, places: AppPlaces, loop: any EventLoop) {
        self.app = app
        self.line = line
        self.places = places
        self.loop = loop
        // While the app waits, further requests are not read. They stay in the process and use no memory of the service
        // (AB-G05).
        app.onWait = { if line.hasRoom { line.read(!$0) } }
    }

    func begin() {
        number = places.add(self)
        adviceWanted(places.isAdviceWanted)
    }

    func received(_ octets: PacketBuffer) throws(PacketError) -> String? {
        let message = try AppMessage(reading: octets)
        let site = site
        self.site = nil
        switch message {
        case .callSite(let number): self.site = CallSite(number: number, process: self.number)
        case .place(let number, let text): places.answer(number, text, by: self.number)
        case .note(let id, let note): app.note(note, of: id, at: site)
        case .misuse(let text): app.noteMisuse(text, at: site)
        case .eventsRead(let id, let count): return eventsRead(count, of: id)
        case .openManager(let id, let role, let options):
            // A number identifies one manager for as long as the manager is open.
            guard sinks[id] == nil, id != .none else { return "manager \(id.rawValue) is already open" }
            let sink = SocketSink(line, manager: id, countsEvents: options.restoreIdentifier != nil, loop: loop)
            if sinks.count < ServiceLimits.managers { sinks[id] = sink }
            app.openManager(id, role, options, sink)
        case .closeManager(let id):
            sinks[id] = nil
            app.closeManager(id)
        case .request(let id, let request): app.handle(request, from: id, at: site)
        case .query(let id, let number, let query):
            line.send(ServiceMessage.reply(number: number, app.answer(query, from: id)).encoded())
        }
        guard app.hasExceededRequestLimit else { return nil }
        return "the suspended app exceeds the limits of pending requests: "
            + "\(ServiceLimits.heldRequests) requests and \(ServiceLimits.heldOctets) octets"
    }

    /// Resumes a manager whose process had too many unread events.
    private func eventsRead(_ count: UInt64, of id: ManagerID) -> String? {
        guard let sink = sinks[id] else { return nil }
        let wasFull = !sink.hasRoom
        guard sink.read(count) else { return "manager \(id.rawValue) acknowledged events that were not sent" }
        if wasFull, sink.hasRoom { app.attach(sink, to: id) }
        return nil
    }

    func roomChanged(_ hasRoom: Bool) {
        guard hasRoom else { return app.detach() }
        adviceWanted(places.isAdviceWanted)
        if app.isWaiting { line.read(false) }
        for (id, sink) in sinks.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { app.attach(sink, to: id) }
    }

    func closingMessage(_ error: ServiceError) -> PacketBuffer { ServiceMessage.goodbye(error).encoded() }

    func ended() {
        // A process that ends without closing its managers is treated as crashed, whatever the reason
        // (behaviour 10.15).
        app.happened(.ended(.crashed))
        places.remove(number)
    }
}

extension AppConversation: PlaceKeeper {
    /// Tells the process, once it reads.
    func adviceWanted(_ isWanted: Bool) {
        guard isWanted != hasSentAdviceWanted, line.hasRoom else { return }
        hasSentAdviceWanted = isWanted
        line.send(ServiceMessage.adviceWanted(isWanted).encoded())
    }

    /// Asks the process. The number of such messages is bounded by ``AppPlaces/maximum``.
    func placeWanted(_ number: UInt32) { line.send(ServiceMessage.placeWanted(number).encoded()) }
}

/// Sends the events of one manager to its process.
private final class SocketSink: EventSink {
    private let line: LoopBound<any MessageLine>
    private let manager: ManagerID
    private let countsEvents: Bool
    private let counts = Mutex<(sent: UInt64, read: UInt64)>((0, 0))

    /// - Parameter countsEvents: Whether the process acknowledges the events of this manager.
    init(_ line: any MessageLine, manager: ManagerID, countsEvents: Bool, loop: any EventLoop) {
        self.line = LoopBound(line, loop: loop)
        self.manager = manager
        self.countsEvents = countsEvents
    }

    var hasRoom: Bool {
        line.value.hasRoom && counts.withLock { $0.sent - $0.read < UInt64(ServiceLimits.unreadEvents) }
    }

    var eventsRead: UInt64? { countsEvents ? counts.withLock { $0.read } : nil }

    func accept(_ event: Event, on loop: any EventLoop) {
        if countsEvents, !event.isOfChannel { counts.withLock { $0.sent += 1 } }
        line.value.send(ServiceMessage.event(manager, event).encoded())
    }

    /// Records the total number of events that the process has read. Returns false for an impossible number.
    func read(_ count: UInt64) -> Bool {
        counts.withLock { counts in
            guard (counts.read...counts.sent).contains(count) else { return false }
            counts.read = count
            return true
        }
    }
}
