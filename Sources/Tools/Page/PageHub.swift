import Administration
import AppAdvice
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages
import ServiceProcess

import struct NIOCore.ByteBuffer

/// One conversation with the service, for all open pages. While no page is open, it asks nothing, except of a world:
/// there it follows events, packets and advice from the beginning, for pages that open later.
///
/// Used on its loop.
final class PageHub {
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
    private let date: () -> Double
    private var pages: [ObjectIdentifier: any PageOutlet] = [:]
    /// The last answer to each regular question, for pages that open later.
    private var snapshots: [String: String] = [:]
    private var devices = PageDeviceList()
    private var energy = PageEnergy()
    private var packets = PagePackets()
    private var tickets = PageTickets()
    /// The packets that pages have named to save.
    private var selections: [ObjectIdentifier: PagePackets.Selection] = [:]
    private var history = PageHistory()
    /// The pages that show packets, and the stream of them.
    private var packetPages: Set<ObjectIdentifier> = []
    private var packetStream: UInt32?
    private var prompts: [UInt32: String] = [:]
    private var streams: [UInt32] = []
    private var timer: ScheduledTask?
    private var words = MonitorWords()
    /// Whether the world is on its way to another instant. Pages get what is known at its end.
    private var isLeaping = false
    /// The regular questions without an answer yet, so that a slow service is not asked more.
    private var asked: Set<String> = []

    /// Creates a hub over a conversation that is open.
    ///
    /// - Parameters:
    ///   - app: The process by which pages use devices; nil if they cannot.
    ///   - date: Returns the time of day, in seconds since the beginning of 1970.
    init(
        _ client: ToolClient,
        loop: any EventLoop,
        app: PageApp?,
        world: (any PageWorld)? = nil,
        date: @escaping () -> Double = { Date().timeIntervalSince1970 }
    ) {
        (self.client, self.loop, self.app, self.world, self.date) = (client, loop, app, world, date)
        app?.onValue = { [weak self] name, json in
            // Pages that open later see whether there is a scan.
            if name == "scanning" { self?.keep(name, json) } else { self?.send(name, json) }
        }
        listen(to: client)
        if world != nil { follow() }
    }

    /// Goes on with another conversation, because the system of the last one is gone.
    func use(_ client: ToolClient) {
        (self.client, snapshots, prompts, asked, words) = (client, [:], [:], [], MonitorWords())
        (devices, energy, packets, history) = (PageDeviceList(), PageEnergy(), PagePackets(), PageHistory())
        (streams, packetStream) = ([], nil)
        listen(to: client)
        if !isLeaping { send("again", "null") }
        if world != nil || !pages.isEmpty { follow() }
        refreshAll()
    }

    private func listen(to client: ToolClient) {
        client.onPrompt = { [weak self] number, question in self?.prompted(number, question) }
        client.onPromptClosed = { [weak self] number in self?.closed(number) }
    }

    /// Adds a page. Returns false if there are too many.
    func add(_ page: any PageOutlet) -> Bool {
        guard pages.count < Self.maximumPages else { return false }
        pages[ObjectIdentifier(page)] = page
        refresh(snapshots.keys.sorted(), of: page)
        for (_, prompt) in prompts.sorted(by: { $0.key < $1.key }) { page.show(Self.frame("prompt", prompt)) }
        showHistory(to: page)
        if let world {
            let bound = LoopBound(page, loop: loop)
            world.welcome { [loop] value in loop.submit { bound.value.show(Self.frame(value)) } }
        }
        guard pages.count == 1 else { return true }
        if world == nil { follow() }
        refreshAll()
        schedule()
        return true
    }

    func remove(_ page: any PageOutlet) {
        followPackets(false, page)
        selections[ObjectIdentifier(page)] = nil
        guard pages.removeValue(forKey: ObjectIdentifier(page)) != nil, pages.isEmpty else { return }
        if let timer { loop.cancel(timer) }
        (timer, snapshots, devices, energy) = (nil, [:], PageDeviceList(), PageEnergy())
        app?.end()
        guard world == nil else { return }
        streams.forEach(client.stop)
        (streams, prompts, packets) = ([], [:], PagePackets())
    }

    /// Sends a page the last version of these values.
    func refresh(_ names: [String], of page: any PageOutlet) {
        guard pages[ObjectIdentifier(page)] != nil else { return }
        for name in names {
            if let value = latest(name) { page.show(Self.frame(name, value)) }
        }
    }

    private func latest(_ name: String) -> String? {
        switch name {
        case "devices": devices.snapshot
        case "energy": energy.snapshot
        default: snapshots[name]
        }
    }

    func handle(_ text: [UInt8], from page: any PageOutlet) {
        guard let message = try? JSONDecoder().decode(PageMessage.self, from: Data(text)) else {
            return page.show(Self.outcome(nil, "the message cannot be read; reload the page"))
        }
        if let world, message.verb == .world {
            send(text, of: message.id, to: world, from: page)
        } else if let (number, answer) = message.personAnswer {
            client.answer(number, answer)
        } else if let question = message.question {
            client.ask(question) { [weak self, weak page] result in
                let error: String = if case .failure(let error) = result { Self.reason(error) } else { "" }
                page?.show(Self.outcome(message.id, error))
                // What changed is shown at once.
                self?.refreshAll()
            }
        } else if case .packets = message.verb {
            followPackets(message.on ?? true, page)
        } else if case .packet = message.verb, let number = message.packet {
            let details = packets.details(of: number)
            page.show(details.map { Self.frame("packet", $0) } ?? Self.outcome(message.id, "the packet is forgotten"))
        } else if case .earlier = message.verb, let number = message.packet {
            page.show(Self.frame("earlier", packets.rows(before: number).json))
        } else if case .select = message.verb, let runs = message.packets {
            let isAdded = selections[ObjectIdentifier(page), default: PagePackets.Selection()].add(runs)
            if !isAdded { page.show(Self.outcome(message.id, "too many packets are to be saved; reload the page")) }
        } else if case .save = message.verb, let format = message.format {
            let selection = selections.removeValue(forKey: ObjectIdentifier(page)) ?? PagePackets.Selection()
            let order = PageTickets.Order(format: format, selection: selection)
            page.show(Self.frame("ticket", JSON.of(PageAccess.downloadPath + tickets.issue(order, at: loop.now))))
        } else if message.action != nil {
            guard let app else {
                return page.show(Self.outcome(message.id, "in a world, its own apps use the devices"))
            }
            app.send(message) { [weak page] in page?.show(Self.outcome(message.id, $0)) }
        } else {
            page.show(Self.outcome(message.id, "a part of the message is missing; reload the page"))
        }
    }

    // MARK: The world

    private func send(_ text: [UInt8], of id: UInt32?, to world: any PageWorld, from page: any PageOutlet) {
        let bound = LoopBound(page, loop: loop)
        world.handle(text) { [loop] error, value in
            loop.submit {
                if let value { bound.value.show(Self.frame(value)) }
                bound.value.show(Self.outcome(id, error))
            }
        }
    }

    /// Sends a value of the world to all pages.
    func send(_ value: PageValue) {
        if value.name == PageValue.leapName { leap(value.json == "true") }
        let frame = Self.frame(value)
        for page in pages.values { page.show(frame) }
    }

    /// Notes that the world is on its way to another instant, or is there. Then pages begin anew.
    private func leap(_ isOn: Bool) {
        guard isLeaping != isOn else { return }
        isLeaping = isOn
        guard !isOn else { return }
        send("again", "null")
        let recent = Self.frame("packets", packets.recent.json)
        for (key, page) in pages {
            showHistory(to: page)
            if packetPages.contains(key) { page.show(recent) }
        }
        refreshAll()
    }

    private static func frame(_ value: PageValue) -> PageFrame {
        let need = value.name == "story" ? PageFrame.Need.item(1) : value.isReplaced ? .passing : .always
        return PageFrame(json(value.name, value.json), need: need)
    }

    // MARK: The service

    /// Opens the streams. A world waits for that, so that nothing of it is missed.
    private func follow() {
        streams = []
        follow("event", .monitor(kinds: .max))
        follow("advice", .advice)
        follow("prompts", .prompts)
        if world != nil || !packetPages.isEmpty { openPackets() }
        world?.begin()
    }

    private func follow(_ name: String, _ question: ToolQuestion) {
        streams.append(open(name, question) { [weak self] in self?.receive(name, $0) })
    }

    /// Opens a stream. A service that refuses it, for lack of rights, says why in the page.
    private func open(
        _ name: String,
        _ question: ToolQuestion,
        onRefusal: @escaping () -> Void = {},
        onLine: @escaping (String) -> Void
    ) -> UInt32 {
        client.ask(question, onLine: onLine) { [weak self] result in
            guard case .failure(let error) = result else { return }
            onRefusal()
            self?.keep("refused-\(name)", JSON.of([Self.reason(error)]))
        }
    }

    private func receive(_ name: String, _ line: String) {
        guard name == "event", let event = try? JSONDecoder().decode(MonitoredEvent.self, from: Data(line.utf8)) else {
            if world != nil, name == "advice" { history.addAdvice(line) }
            return isLeaping ? () : send(name, line)
        }
        packets.note(event)
        let shown = JSON.of(ShownEvent(event, words: words.text(of: event)))
        if world != nil { history.addEvent(shown) }
        if !isLeaping { send(name, shown) }
    }

    private func showHistory(to page: any PageOutlet) {
        for events in history.batches { page.show(Self.frame("events", events)) }
        for advice in history.advice { page.show(Self.frame("advice", advice)) }
    }

    private func schedule() {
        timer = loop.schedule(after: Self.interval) { [weak self] in
            self?.refreshAll()
            self?.schedule()
        }
    }

    private func refreshAll() {
        guard !pages.isEmpty, !isLeaping else { return }
        world?.refresh()
        for (name, question) in [("status", .status), ("devices", .devices), ("apps", .apps)]
            as [(String, ToolQuestion)]
        {
            guard asked.insert(name).inserted else { continue }
            client.ask(question) { [weak self] result in
                self?.asked.remove(name)
                guard let self, case .success(let text) = result else { return }
                switch name {
                case "devices": keepDevices(text)
                case "status": keepStatus(text)
                default: keep(name, text)
                }
            }
        }
    }

    /// Sends the status if it has changed, and of the energy, which changes all the time, what has changed.
    private func keepStatus(_ text: String) {
        guard !pages.isEmpty else { return }
        guard var status = try? JSONDecoder().decode(SystemStatus.self, from: Data(text.utf8)) else {
            return keep("status", text)
        }
        let (answer, isFirst) = (status.energy, snapshots["energy"] == nil)
        status.energy = nil
        keep("status", answer == nil ? text : JSON.of(status))
        let change = energy.update(answer)
        guard answer != nil || !isFirst else { return }
        // Marks that there are charges; later pages get them from the list.
        snapshots["energy"] = answer == nil ? nil : ""
        if let change { return send("energyChanged", JSON.of(change)) }
        if isFirst || answer == nil { send("energy", energy.snapshot) }
    }

    private func keepDevices(_ text: String) {
        guard !pages.isEmpty, let answer = try? JSONDecoder().decode([DeviceStatus].self, from: Data(text.utf8)),
            let change = devices.update(answer, now: date())
        else { return }
        // Marks that there are devices; later pages get them from the list.
        snapshots["devices"] = ""
        send("devicesChanged", JSON.of(change))
    }

    // MARK: Packets

    /// Returns the file that a ticket stands for, once: the packets of its selection that are kept.
    func download(_ ticket: String) -> PageFiles.Download? {
        guard let order = tickets.redeem(ticket, at: loop.now) else { return nil }
        let octets = packets.capture(order.format, order.selection)
        return PageFiles.Download(name: "harald.\(order.format.rawValue)", octets: octets)
    }

    /// Follows the packets while a page wants them.
    private func followPackets(_ isOn: Bool, _ page: any PageOutlet) {
        let key = ObjectIdentifier(page)
        if isOn, pages[key] != nil {
            let isNew = packetPages.insert(key).inserted
            if isNew, world != nil { page.show(Self.frame("packets", packets.recent.json)) }
        } else {
            packetPages.remove(key)
        }
        if packetPages.isEmpty, world == nil, let stream = packetStream {
            client.stop(stream)
            packetStream = nil
        } else if !packetPages.isEmpty, packetStream == nil {
            openPackets()
        }
    }

    private func openPackets() {
        snapshots["refused-packets"] = nil
        let forget = { [weak self] in
            self?.packetStream = nil
            self?.packetPages = []
        }
        packetStream = open("packets", .packets, onRefusal: forget) { [weak self] in self?.receivePackets($0) }
    }

    private func receivePackets(_ line: String) {
        guard let rows = packets.receive(line), !packetPages.isEmpty, !isLeaping else { return }
        let frame = PageFrame(Self.json("packets", rows.json), need: .item(rows.count))
        for (key, page) in pages where packetPages.contains(key) { page.show(frame) }
    }

    /// Sends a snapshot if it differs from the last one.
    private func keep(_ name: String, _ value: String) {
        guard !pages.isEmpty, snapshots.updateValue(value, forKey: name) != value else { return }
        send(name, value)
    }

    private func prompted(_ number: UInt32, _ question: PersonQuestion) {
        let text = JSON.of(PagePrompt(number, question))
        // A notice has no answer, so no later page needs it.
        if number != 0, prompts.count < Self.maximumPrompts { prompts[number] = text }
        send("prompt", text)
    }

    private func closed(_ number: UInt32) {
        prompts[number] = nil
        send("promptClosed", "\(number)")
    }

    private func send(_ name: String, _ value: String) {
        let frame = Self.frame(name, value)
        for page in pages.values { page.show(frame) }
    }

    // MARK: Frames

    private struct Outcome: Encodable {
        let id: UInt32?
        let error: String?
    }

    /// - Parameter error: The error in words, empty if there is none.
    private static func outcome(_ id: UInt32?, _ error: String) -> PageFrame {
        frame("outcome", JSON.of(Outcome(id: id, error: error.isEmpty ? nil : error)))
    }

    private static func reason(_ error: ServiceError) -> String { error.reason ?? "the service gave no reason" }

    private static func json(_ name: String, _ value: String) -> String {
        "{\"type\":\"\(name)\",\"value\":\(value)}"
    }

    private static func frame(_ name: String, _ value: String) -> PageFrame {
        let need: PageFrame.Need =
            switch name {
            case "event", "value", "found": .item(1)
            case "status", "apps", "devices", "energy": .latest(name)
            case "devicesChanged": .latest("devices")
            case "energyChanged": .latest("energy")
            default: .always
            }
        return PageFrame(json(name, value), need: need)
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
    /// Whether an app was launched to receive an event.
    let isLaunch: Bool?
    /// The number of discoveries that were left out before this one.
    let leftOut: Int?
    /// The event in words, with its app and device.
    let text: String

    init(_ event: MonitoredEvent, words: String) {
        (number, date, kind) = (event.number, event.date, event.kind)
        (app, owner, peer, cause) = (event.app, event.owner, event.peer, event.cause)
        phase = event.details?["phase"]
        isLaunch = event.details?["centrals"] == nil ? nil : true
        leftOut = event.leftOut
        text = words
    }
}

/// A text for pages, which share its octets.
struct PageFrame: Sendable {
    /// The treatment of the text if a page does not keep up.
    enum Need: Hashable, Sendable {
        /// The text waits for the page.
        case always
        /// The text is left out, and counted as this many items.
        case item(Int)
        /// The text is left out, because another one follows soon.
        case passing
        /// The text is left out, and the page gets the last version of the value with this name later.
        case latest(String)
    }

    let octets: ByteBuffer
    let need: Need

    init(_ text: String, need: Need) {
        (octets, self.need) = (ByteBuffer(string: text), need)
    }

    var text: String { String(buffer: octets) }
}

/// A page, as the hub knows it. Used on the hub's loop.
protocol PageOutlet: AnyObject {
    func show(_ frame: PageFrame)
}

/// A simulated world that the page shows and controls. From any thread.
package protocol PageWorld: AnyObject, Sendable {
    /// Handles a message of a page, a JSON object.
    ///
    /// - Parameter answer: Receives the reason for a refusal, empty if there is none, and a value for this page alone.
    func handle(_ message: [UInt8], answer: @escaping @Sendable (_ error: String, PageValue?) -> Void)
    /// Calls `show` with each value that a page which opens has to know.
    func welcome(_ show: @escaping @Sendable (PageValue) -> Void)
    /// Lets its time begin, now that the hub follows its events and packets. Called after each (re)start.
    func begin()
    /// Sends what it looks like to all pages again, for those that have missed it.
    func refresh()
}

/// A value for pages, under a name.
package struct PageValue: Sendable {
    /// The name, which is not escaped.
    let name: String
    let json: String
    /// Whether a later value of this name takes the place of this one, so that a page which does not keep up may go
    /// without it.
    let isReplaced: Bool
}

extension PageValue {
    static let leapName = "leap"

    /// Whether the world is on its way to another instant.
    static func leap(_ isOn: Bool) -> PageValue { PageValue(name: leapName, json: "\(isOn)", isReplaced: false) }
}
