import EventLoops
import Foundation
import HCITransports
import Page

/// A world in real time that a page shows and controls.
enum WorldOnPage {
    /// Creates a world, and shows it until the command is interrupted.
    static func run(seed: UInt64, _ options: PageOptions) throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        // A browser that has gone is noticed without the signal.
        signal(SIGPIPE, SIG_IGN)
        let loop = NIOEventLoop()
        let open = loop.make { OpenPage() }
        let world = WorldRunner(seed: seed) { value in loop.submit { open.value.send(value) } }
        loop.submit { open.value.show(world, loop: loop, options, outcome) }
        defer {
            open.with { $0.close() }
            world.stop()
        }
        try outcome.wait()
    }
}
