import ArgumentParser
import BluetoothSimulation
import Foundation
import LinkLayer
import Synchronization
import Testing

@testable import harald

/// Lines of `harald shell`, as commands of one session.
@Suite struct ShellSessionTests {
    /// Performs the lines one after the other, and returns what they have printed, with their errors.
    private func run(_ world: VerbWorld, _ lines: [String]) throws -> [String] {
        let verbs = try lines.map(verb)
        let run = try world.run { client async throws(ToolError) in
            for verb in verbs {
                let (aborts, _) = AsyncStream<ToolError>.makeStream()
                let next = client.next(facts: client.facts, report: client.report)
                let body: DeviceClient.Verb = { client async throws(ToolError) in
                    try await verb.performInSession(client)
                }
                if case .failure(let error) = await next.perform(body, aborts: aborts) {
                    client.report.say("error: \(error)")
                }
            }
        }
        try run.result.get()
        return run.lines
    }

    private func verb(_ line: String) throws -> any SessionVerb {
        let words = try ShellWords.split(line)
        let command = try #require(words.first.flatMap(ShellVerbs.named))
        let parsed = try ShellLine.$isBeingParsed.withValue(true) { try command.parseAsRoot(Array(words.dropFirst())) }
        return try #require(parsed as? any SessionVerb)
    }

    @Test("a device stays connected from connect to disconnect, and the lines between use its connection")
    func staying() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let lines = try run(
            world,
            ["connect pulse", "read Pulse 2A38", "write pulse 2A39 01", "follow Pulse 2A37 --count 2", "disconnect"]
        )
        #expect(lines.filter { $0 == "connected" }.count == 1)
        #expect(lines.filter { $0 == "disconnected" }.count == 1)
        #expect(lines.last == "disconnected")
        #expect(lines.contains("chest") && lines.contains("wrote 1 octet to 2A39 Heart Rate Control Point"))
        #expect(sensor.state.withLock { $0.written } == [Data([1])])
    }

    @Test("a device that was not connected is left after each line")
    func leaving() throws {
        let world = VerbWorld(sensor: "Pulse")
        let lines = try run(world, ["read Pulse 2A38", "read Pulse 2A38"])
        #expect(lines.filter { $0 == "disconnected" }.count == 2)
    }

    @Test("a line that fails is followed by the next one, and its device stays connected")
    func failing() throws {
        let world = VerbWorld(sensor: "Pulse")
        let lines = try run(world, ["connect Pulse", "read Pulse 2A19", "read Pulse 2A38", "disconnect Scale"])
        #expect(lines.contains { $0.hasPrefix("error: \"Pulse\" has no characteristic \"2A19\"") })
        #expect(lines.contains("chest"))
        #expect(lines.contains("error: the shell is not connected to \"Scale\""))
        #expect(try run(VerbWorld(), ["disconnect"]) == ["error: no device is connected"])
    }

    @Test("a device that was lost is connected again by the next line that uses it")
    func losing() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let connect = try verb("connect Pulse")
        let read = try verb("read Pulse 2A38")
        let run = try world.run { client async throws(ToolError) in
            try await connect.performInSession(client)
            sensor.device.move(to: Position(x: 1_000_000))
            await client.pause(.seconds(30))
            client.report.say("connected: \(client.memory.connected.count)")
            sensor.device.move(to: Position(x: 1))
            try await read.performInSession(client)
            client.report.say("connected: \(client.memory.connected.count)")
        }
        try run.result.get()
        #expect(run.lines.contains("connected: 0") && run.lines.last == "connected: 1")
    }

    @Test(
        "options of the whole session are refused in a line",
        arguments: [
            "scan --controller hci0", "scan --service x", "scan --capture x", "scan --passive", "explore P --enhanced",
            "pair P --answer yes", "pair P --store x", "devices --service x",
        ]
    )
    func refusing(line: String) throws {
        let words = try ShellWords.split(line)
        let command = try #require(words.first.flatMap(ShellVerbs.named))
        let error = #expect(throws: (any Error).self) {
            try ShellLine.$isBeingParsed.withValue(true) { try command.parseAsRoot(Array(words.dropFirst())) }
        }
        let message = error.map { command.fullMessage(for: $0) } ?? ""
        #expect(message.contains("cannot be given in the shell"), "\(message)")
    }

    @Test("a word that is no command is an error that suggests one")
    func suggestions() {
        #expect(
            "\(UnknownCommand("raed", among: ShellVerbs.names))"
                == "there is no command \"raed\"; did you mean `read`?"
        )
        #expect(
            "\(UnknownCommand("banana", among: ShellVerbs.names))"
                == "there is no command \"banana\"; `help` lists the commands"
        )
    }
}
