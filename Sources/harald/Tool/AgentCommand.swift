import ArgumentParser
import BluetoothService
import EventLoops
import HCITransports
import ServiceProcess
import ServiceSocket

struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Answer here what the Bluetooth service asks a person, until interrupted.",
        discussion: "Who may pair, and which apps may use Bluetooth. Of several agents the newest is asked."
    )

    @OptionGroup var service: ServiceOptions

    func run() throws {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let client = service.connect(outcome, loop: loop) { client in
            let agent = Agent(TerminalPrompter(loop: loop, prepared: nil)) { [weak client] in client?.answer($0, $1) }
            client.onPrompt = { agent.asked($0, $1) }
            client.onPromptClosed = { agent.closed($0) }
            client.ask(.prompts) { outcome.finish($0.map { _ in }.mapError(ToolError.init)) }
            Console.line("what the Bluetooth service asks is asked here")
        }
        defer { client.with { $0.close() } }
        do throws(ToolError) {
            try outcome.wait()
        } catch {
            throw error.report()
        }
    }
}
