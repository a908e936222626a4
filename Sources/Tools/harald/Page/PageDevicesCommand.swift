import ArgumentParser
import Foundation
import Page
import ServiceMessages

/// Uses devices for the page. Started by it, and of no use to people.
struct PageDevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page-devices",
        abstract: "Use devices for `harald page`, which starts it.",
        discussion: """
            Reads messages from standard input and writes values to standard output, as lines of JSON.

            \(ExitStatus.text())
            """,
        shouldDisplay: false
    )

    @OptionGroup var service: ServiceOptions

    func run() throws {
        guard let path = service.service else { throw ValidationError("--service is required") }
        let host = ClientHost.service(path, known: [], devices: { () throws(ToolError) in [] })
        let outcome = Outcome()
        let (lines, source) = AsyncStream<String>.makeStream()
        // The page bounds what it sends.
        Thread.detachNewThread {
            while let line = readLine() { source.yield(line) }
            source.finish()
        }
        Task {
            await PageDevices.run(host.connection, lines: lines, say: Console.line)
            outcome.finish(.success(()))
        }
        do throws(ToolError) {
            try outcome.wait()
        } catch {
            throw error.report(json: false)
        }
    }
}
