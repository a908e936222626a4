import EventLoops
import ServiceProcess
import Synchronization
import Testing

@testable import Page

/// A world on the page, as the hub passes its values and messages on.
@Suite struct PageWorldTests {
    private final class World: PageWorld {
        let messages = Mutex<[String]>([])
        let refreshes = Atomic(0)

        func handle(_ message: [UInt8], answer: @escaping @Sendable (_ error: String, PageValue?) -> Void) {
            let text = String(decoding: message, as: UTF8.self)
            messages.withLock { $0.append(text) }
            if text.contains("fly") { return answer("it cannot fly", nil) }
            answer("", PageValue(name: "worldTest", json: "\"text\"", isReplaced: false))
        }

        func welcome(_ show: @escaping @Sendable (PageValue) -> Void) {
            show(PageValue(name: "world", json: "1", isReplaced: true))
            show(PageValue(name: "story", json: "2", isReplaced: false))
        }

        func begin() {}
        func refresh() { refreshes.add(1, ordering: .relaxed) }
    }

    private final class Outlet: PageOutlet {
        var shown: [PageFrame] = []
        var texts: [String] { shown.map(\.text) }

        func show(_ frame: PageFrame) { shown.append(frame) }
    }

    private let loop = VirtualEventLoop()
    private let world = World()
    private let hub: PageHub

    init() {
        hub = PageHub(ToolClient([], loop: loop), loop: loop, app: nil, world: world)
    }

    private func open() -> Outlet {
        let page = Outlet()
        #expect(hub.add(page))
        loop.run(for: .zero)
        return page
    }

    @Test("a page that opens gets the world, and what changes later; of its state, only the last counts")
    func welcome() {
        let page = open()
        #expect(page.texts == [#"{"type":"world","value":1}"#, #"{"type":"story","value":2}"#])
        #expect(page.shown.map(\.need) == [.passing, .item(1)])
        hub.send(PageValue(name: "world", json: "3", isReplaced: true))
        #expect(page.texts.last == #"{"type":"world","value":3}"#)
        let before = world.refreshes.load(ordering: .relaxed)
        loop.run(for: PageHub.interval * 3)
        #expect(world.refreshes.load(ordering: .relaxed) == before + 3)
        hub.remove(page)
        loop.run(for: PageHub.interval * 3)
        #expect(world.refreshes.load(ordering: .relaxed) == before + 3)
    }

    @Test("the world's messages reach it as they are, and the answer only their sender")
    func messages() {
        let (page, other) = (open(), open())
        let count = other.shown.count
        for text in [#"{"verb":"world","id":7,"act":"test"}"#, #"{"verb":"world","act":"fly"}"#] {
            hub.handle(Array(text.utf8), from: page)
            loop.run(for: .zero)
        }
        #expect(world.messages.withLock { $0.count } == 2)
        #expect(
            page.texts.dropFirst(2) == [
                #"{"type":"worldTest","value":"text"}"#, #"{"type":"outcome","value":{"id":7}}"#,
                #"{"type":"outcome","value":{"error":"it cannot fly"}}"#,
            ]
        )
        #expect(other.shown.count == count)
    }

    @Test("without a world, its messages are refused; in a world, the page uses no devices")
    func refusals() throws {
        let page = open()
        hub.handle(Array(#"{"verb":"scan","id":1}"#.utf8), from: page)
        #expect(try #require(page.texts.last).contains("its own apps use the devices"))
        let plain = PageHub(ToolClient([], loop: loop), loop: loop, app: nil)
        plain.handle(Array(#"{"verb":"world","id":1,"act":"run"}"#.utf8), from: page)
        #expect(try #require(page.texts.last).contains("a part of the message is missing"))
        #expect(world.messages.withLock { $0.isEmpty })
    }

    @Test("pages are told when the system is another one, because the world has begun again")
    func again() {
        let page = open()
        hub.use(ToolClient([], loop: loop))
        #expect(page.texts.last == #"{"type":"again","value":null}"#)
    }

    @Test("while the world is on its way to another instant, pages get nothing of it, and then begin anew")
    func leap() throws {
        let page = open()
        let count = page.shown.count
        hub.send(.leap(true))
        hub.use(ToolClient([], loop: loop))
        let refreshes = world.refreshes.load(ordering: .relaxed)
        loop.run(for: PageHub.interval * 2)
        #expect(page.texts.dropFirst(count) == [#"{"type":"leap","value":true}"#])
        #expect(world.refreshes.load(ordering: .relaxed) == refreshes)
        hub.send(.leap(false))
        #expect(
            page.texts.dropFirst(count + 1) == [#"{"type":"again","value":null}"#, #"{"type":"leap","value":false}"#]
        )
        #expect(world.refreshes.load(ordering: .relaxed) == refreshes + 1)
    }
}
