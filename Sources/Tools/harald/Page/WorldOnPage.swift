import EventLoops
import Foundation
import HCITransports
import Page
import ServiceProcess

/// A world in real time that a page shows and controls.
final class WorldOnPage: PageWorld {
    private let world: WorldRunner

    /// Creates a world, and shows it until the command is interrupted.
    static func run(seed: UInt64, _ options: PageOptions) throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        // A browser that has gone is noticed without the signal.
        signal(SIGPIPE, SIG_IGN)
        let loop = NIOEventLoop()
        let open = loop.make { OpenPage() }
        let shown = WorldOnPage(seed: seed) { value in loop.submit { open.value.send(value) } }
        loop.submit { open.value.show(shown, loop: loop, options, outcome) }
        defer {
            open.with { $0.close() }
            shown.world.stop()
        }
        try outcome.wait()
    }

    private init(seed: UInt64, publish: @escaping @Sendable (PageValue) -> Void) {
        world = WorldRunner(seed: seed) { publish(PageValue($0)) }
    }

    func dialer(loop: any EventLoop) -> any Dialer { WorldDialer(world, loop: loop) }

    func handle(_ message: [UInt8], answer: @escaping @Sendable (_ error: String, PageValue?) -> Void) {
        world.handle(message) { answer($0, $1.map(PageValue.init)) }
    }

    func welcome(_ show: @escaping @Sendable (PageValue) -> Void) {
        world.welcome { _, news in if let news { show(PageValue(news)) } }
    }

    func begin() { world.begin() }

    func refresh() { world.refresh() }
}

extension PageValue {
    fileprivate init(_ news: WorldRunner.News) {
        self.init(name: news.name, json: news.json, isReplaced: news.isReplaced)
    }
}
