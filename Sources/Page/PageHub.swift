import BluetoothService
import EventLoops
import EventWords
import Foundation
import ServiceMessages
import ServiceProcess

/// One conversation with the service, for all open pages. While no page is open, it asks nothing.
///
/// Used on its loop.
final class PageHub {
    /// The maximum number of pages that are open at once.
    static let maximumPages = 128
    /// The time between two looks at devices, apps and links.
    static let interval = Duration.seconds(1)
    /// The maximum number of prompts that are kept for pages which open later. The service has no more at a time
    /// (AB-G05).
    static let maximumPrompts = 64

    private var client: ToolClient
    private let loop: any EventLoop
    private let app: PageApp?
    private let world: (any PageWorld)?
    private var pages: [ObjectIdentifier: any PageOutlet] = [:]
    /// The last answer to each regular question, for pages that open later.
    private var snapshots: [String: String] = [:]
    private var prompts: [UInt32: String] = [:]
    private var streams: [UInt32] = []
    private var timer: ScheduledTask?
    private var words = MonitorWords()
    /// The regular questions without an answer yet, so that a slow service is not asked more.
    private var asked: Set<String> = []

    /// Creates a hub over a conversation that is open.
    ///
    /// - Parameters:
    ///   - app: The process by which pages use devices; nil if they cannot.
    ///   - world: The world that the pages control, if there is one.
    init(_ client: ToolClient, loop: any EventLoop, app: PageApp?, world: (any PageWorld)? = nil) {
        (self.client, self.loop, self.app, self.world) = (client, loop, app, world)
        app?.onValue = { [weak self] name, json in
            // Pages that open later see whether there is a scan.
            if name == "scanning" { self?.keep(name, json) } else { self?.tell(name, json) }
        }
        listen(to: client)
    }

    /// Goes on with another conversation, because the system of the last one is gone.
    func use(_ client: ToolClient) {
        (self.client, snapshots, prompts, asked, words) = (client, [:], [:], [], MonitorWords())
        listen(to: client)
        tell("again", "null")
        if !pages.isEmpty { begin() }
    }

    private func listen(to client: ToolClient) {
        client.onPrompt = { [weak self] number, question in self?.prompted(number, question) }
        client.onPromptClosed = { [weak self] number in self?.closed(number) }
    }

    /// Adds a page. Returns false if there are too many.
    func add(_ page: any PageOutlet) -> Bool {
        guard pages.count < Self.maximumPages else { return false }
        pages[ObjectIdentifier(page)] = page
        for (name, value) in snapshots.sorted(by: { $0.key < $1.key }) { page.show(Self.frame(name, value)) }
        for (_, prompt) in prompts.sorted(by: { $0.key < $1.key }) { page.show(Self.frame("prompt", prompt)) }
        if let world {
            let bound = LoopBound(page, loop: loop)
            world.welcome { [loop] value in loop.submit { bound.value.show(Self.frame(value)) } }
        }
        if pages.count == 1 { begin() }
        return true
    }

    /// Removes a page that was closed.
    func remove(_ page: any PageOutlet) {
        guard pages.removeValue(forKey: ObjectIdentifier(page)) != nil, pages.isEmpty else { return }
        streams.forEach(client.stop)
        streams = []
        if let timer { loop.cancel(timer) }
        (timer, snapshots, prompts) = (nil, [:], [:])
        app?.end()
    }

    /// Handles a text of a page.
    func handle(_ text: [UInt8], from page: any PageOutlet) {
        guard let message = try? JSONDecoder().decode(PageMessage.self, from: Data(text)) else {
            return page.show(Self.failure(nil, "the message cannot be read; reload the page"))
        }
        if let world, message.verb == .world {
            tell(text, of: message.id, to: world, from: page)
        } else if let (number, answer) = message.personAnswer {
            client.answer(number, answer)
        } else if let question = message.question {
            client.ask(question) { [weak self, weak page] result in
                page?.show(Self.outcome(message.id, result))
                // What changed is shown at once.
                self?.look()
            }
        } else if message.deed != nil {
            guard let app else {
                return page.show(Self.failure(message.id, "in a world, its own apps use the devices"))
            }
            app.send(message) { [weak page] error in
                page?.show(error.isEmpty ? Self.outcome(message.id, .success("")) : Self.failure(message.id, error))
            }
        } else {
            page.show(Self.failure(message.id, "a part of the message is missing; reload the page"))
        }
    }

    // MARK: The world

    private func tell(_ text: [UInt8], of id: UInt32?, to world: any PageWorld, from page: any PageOutlet) {
        let bound = LoopBound(page, loop: loop)
        world.handle(text) { [loop] error, value in
            loop.submit {
                if let value { bound.value.show(Self.frame(value)) }
                bound.value.show(error.isEmpty ? Self.outcome(id, .success("")) : Self.failure(id, error))
            }
        }
    }

    /// Sends a value of the world to all pages.
    func tell(_ value: PageValue) {
        let frame = Self.frame(value)
        for page in pages.values { page.show(frame) }
    }

    private static func frame(_ value: PageValue) -> PageFrame {
        let text = frame(value.name, value.json).text
        return PageFrame(text: text, isEvent: value.name == "story", isReplaced: value.isReplaced)
    }

    // MARK: The service

    private func begin() {
        streams = []
        follow("event", .monitor(kinds: .max))
        follow("advice", .advice)
        follow("prompts", .prompts)
        look()
        if timer == nil { schedule() }
    }

    /// Opens a stream. A service that refuses it, for lack of rights, says why in the page.
    private func follow(_ name: String, _ question: ToolQuestion) {
        let number = client.ask(
            question,
            onLine: { [weak self] line in self?.heard(name, line) },
            answer: { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.keep("refused-\(name)", Self.text(error.reason ?? "the service gave no reason"))
            }
        )
        streams.append(number)
    }

    private func heard(_ name: String, _ line: String) {
        guard name == "event", let event = try? JSONDecoder().decode(MonitoredEvent.self, from: Data(line.utf8)) else {
            return tell(name, line)
        }
        tell(name, JSON.of(ShownEvent(event, words: words.text(of: event))))
    }

    private func schedule() {
        timer = loop.schedule(after: Self.interval) { [weak self] in
            self?.look()
            self?.schedule()
        }
    }

    private func look() {
        guard !pages.isEmpty else { return }
        world?.refresh()
        for (name, question) in [("status", .status), ("devices", .devices), ("apps", .apps)]
            as [(String, ToolQuestion)]
        {
            guard asked.insert(name).inserted else { continue }
            client.ask(question) { [weak self] result in
                self?.asked.remove(name)
                guard case .success(let text) = result else { return }
                self?.keep(name, text)
            }
        }
    }

    /// Sends a snapshot if it differs from the last one.
    private func keep(_ name: String, _ value: String) {
        guard !pages.isEmpty, snapshots.updateValue(value, forKey: name) != value else { return }
        tell(name, value)
    }

    private func prompted(_ number: UInt32, _ question: PersonQuestion) {
        let text = JSON.of(PagePrompt(number, question))
        // A notice has no answer, so no later page needs it.
        if number != 0, prompts.count < Self.maximumPrompts { prompts[number] = text }
        tell("prompt", text)
    }

    private func closed(_ number: UInt32) {
        prompts[number] = nil
        tell("promptClosed", "\(number)")
    }

    private func tell(_ name: String, _ value: String) {
        let frame = Self.frame(name, value)
        for page in pages.values { page.show(frame) }
    }

    // MARK: Frames

    private struct Outcome: Encodable {
        let id: UInt32?
        let error: String?
    }

    private static func outcome(_ id: UInt32?, _ result: Result<String, ServiceError>) -> PageFrame {
        if case .failure(let error) = result { return failure(id, error.reason ?? "the service gave no reason") }
        return frame("outcome", JSON.of(Outcome(id: id, error: nil)))
    }

    private static func failure(_ id: UInt32?, _ reason: String) -> PageFrame {
        frame("outcome", JSON.of(Outcome(id: id, error: reason)))
    }

    private static func text(_ text: String) -> String { JSON.of([text]) }

    private static func frame(_ name: String, _ value: String) -> PageFrame {
        PageFrame(
            text: "{\"type\":\"\(name)\",\"value\":\(value)}",
            isEvent: name == "event" || name == "value" || name == "found"
        )
    }
}

/// An event of the service as the page shows it.
private struct ShownEvent: Encodable {
    let number: UInt64
    let date: Double?
    let kind: String
    let app: String?
    let owner: UInt32?
    let peer: UUID?
    let cause: UInt64?
    /// The phase that an app has entered.
    let phase: String?
    /// The event in words, with its app and device.
    let text: String

    init(_ event: MonitoredEvent, words: String) {
        (number, date, kind) = (event.number, event.date, event.kind)
        (app, owner, peer, cause) = (event.app, event.owner, event.peer, event.cause)
        phase = event.details?["phase"]
        text = words
    }
}

/// A text for a page.
struct PageFrame: Sendable {
    let text: String
    /// Whether a page that does not keep up may go without it.
    let isEvent: Bool
    /// Whether a later frame takes its place, so that a page which goes without it has not lost anything.
    var isReplaced = false
}

/// A page, as the hub knows it. Used on the hub's loop.
protocol PageOutlet: AnyObject {
    func show(_ frame: PageFrame)
}
