import BluetoothTypes
import ControllerStandIns
import HCI
import Testing

@testable import HCIHost

@Suite struct HostFlowControlTests {
    private func data(_ handle: UInt8, _ octet: UInt8 = 0xAA) -> HCIPacket {
        HCIPacket(.acl, [handle, 0x20, 1, 0, octet])
    }

    private func reports(_ bench: HostBench) -> [[CompletedPackets]] {
        bench.transport.sent.filter { $0.kind == .command }.compactMap { packet in
            guard let frame = try? CommandPacket(reading: packet.bytes),
                let command = try? HCICommandRegistry.decode(frame) as? HostNumberOfCompletedPackets
            else { return nil }
            return command.entries
        }
    }

    private func returned(_ bench: HostBench) -> Int {
        reports(bench).joined().reduce(0) { $0 + Int($1.count) }
    }

    private func bench(count: UInt16 = 16) -> HostBench {
        var configuration = HCIHost.Configuration()
        configuration.hostBuffers = HostBuffers(packetLength: 251, packetCount: count)
        let bench = HostBench.up(configuration: configuration)
        return bench
    }

    private func entry(_ handle: UInt16, _ count: UInt16) -> CompletedPackets {
        CompletedPackets(handle: ConnectionHandle(rawValue: handle), count: count)
    }

    @Test func theControllerIsToldBeforeThereAreConnections() throws {
        var configuration = HCIHost.Configuration()
        configuration.hostBuffers = HostBuffers(packetLength: 251, packetCount: 7)
        let bench = HostBench(configuration: configuration)
        bench.host.start()
        bench.run()
        let packets = bench.transport.sent.map(\.bytes)
        let size = try #require(packets.firstIndex(of: [0x33, 0x0C, 0x07, 0xFB, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00]))
        #expect(packets[size + 1] == [0x31, 0x0C, 0x01, 0x01])
        #expect(bench.information?.hostBuffers == configuration.hostBuffers)
    }

    static let commands: [any HCICommand.Type] = [
        HostBufferSize.self, SetControllerToHostFlowControl.self, HostNumberOfCompletedPackets.self,
    ]

    @Test(arguments: 0..<3) func withoutOneOfTheCommandsItStaysOff(missing: Int) throws {
        let bench = HostBench()
        bench.controller.commands.remove(Self.commands[missing])
        bench.host.start()
        bench.run()
        let names = Set(Self.commands.map { $0.name })
        #expect(names.isDisjoint(with: bench.transport.commandNames))
        #expect(bench.information != nil)
        #expect(bench.information?.hostBuffers == nil)
    }

    @Test func itCanBeTurnedOff() {
        var configuration = HCIHost.Configuration()
        configuration.hostBuffers = nil
        let bench = HostBench.up(configuration: configuration)
        #expect(bench.information != nil)
        #expect(bench.information?.hostBuffers == nil)
        bench.connect(1)?.onReceive = { _, _ in }
        for _ in 0..<100 { bench.transport.inject(data(1)) }
        bench.run()
        #expect(reports(bench).isEmpty)
    }

    @Test(arguments: [HostBufferSize.opcode, SetControllerToHostFlowControl.opcode])
    func aControllerThatRefusesIsLeftInPeace(opcode: Opcode) {
        let bench = HostBench()
        bench.controller.reaction = { $0 == opcode ? .refuse(.commandDisallowed) : .answer }
        bench.up()
        #expect(bench.information != nil)
        #expect(bench.information?.hostBuffers == nil)
        bench.connect(1)?.onReceive = { _, _ in }
        for _ in 0..<100 { bench.transport.inject(data(1)) }
        bench.run()
        #expect(reports(bench).isEmpty)
    }

    @Test func packetsAreGivenBackByTheQuarterOrAfterAWhile() throws {
        let bench = bench()
        bench.connect(1)?.onReceive = { _, _ in }
        bench.connect(2)?.onReceive = { _, _ in }
        for _ in 0..<3 { bench.transport.inject(data(1)) }
        bench.run(.milliseconds(9))
        #expect(reports(bench).isEmpty)
        bench.transport.inject(data(2))
        bench.run(.zero)
        #expect(reports(bench) == [[entry(1, 3), entry(2, 1)]])
        bench.transport.inject(data(2))
        bench.run(.milliseconds(9))
        #expect(reports(bench).count == 1)
        bench.run(.milliseconds(2))
        #expect(reports(bench).dropFirst() == [[entry(2, 1)]])
        bench.run(.seconds(1))
        #expect(reports(bench).count == 2)
    }

    @Test func unreadDataReturnNoCredits() throws {
        let bench = bench()
        let link = try #require(bench.connect(1))
        for _ in 0..<3 { bench.transport.inject(data(1)) }
        bench.run(.seconds(1))
        #expect(reports(bench).isEmpty)
        link.onReceive = { _, _ in }
        bench.run()
        #expect(reports(bench) == [[entry(1, 3)]])
    }

    @Test func packetsThatCannotBeUsedAreGivenBackToo() throws {
        let bench = bench()
        bench.connect(1)
        // Empty packets, and more packets than are kept for a late claimant.
        bench.inject(.acl, [1, 0x20, 0, 0])
        for _ in 0..<(HCIConnection.maximumUnclaimedFragments + 2) { bench.transport.inject(data(1)) }
        bench.run()
        #expect(returned(bench) == 3)
        #expect(bench.host.counters.malformed == 1)
    }

    @Test func dataThatCameBeforeTheirConnectionAreGivenBackWithIt() throws {
        let bench = bench()
        bench.transport.inject(data(1))
        bench.run(.milliseconds(20))
        #expect(reports(bench).isEmpty)
        bench.host.onConnection = { link in link.onReceive = { _, _ in } }
        bench.connect(1)
        bench.run()
        #expect(reports(bench) == [[entry(1, 1)]])
    }

    @Test func afterTheEndOfALinkTheControllerHasItsBuffersBack() throws {
        let bench = bench()
        bench.connect(1)?.onReceive = { _, _ in }
        bench.connect(2)?.onReceive = { _, _ in }
        bench.transport.inject(data(1))
        bench.transport.inject(data(2))
        bench.inject(DisconnectionComplete(handle: .init(rawValue: 1), reason: .remoteUserTerminated))
        bench.run()
        #expect(reports(bench) == [[entry(2, 1)]])
        // A link that ends while its data are being received.
        bench.host.connection(.init(rawValue: 2))?.onReceive = { [unowned bench] _, _ in bench.host.stop() }
        bench.inject(.acl, [2, 0x20, 1, 0, 7])
        bench.run(.seconds(1))
        #expect(reports(bench).count == 1)
    }

    @Test func aControllerThatIgnoresItAllIsServedAllTheSame() throws {
        let bench = bench(count: 4)
        var seen = 0
        bench.connect(1)?.onReceive = { _, _ in seen += 1 }
        // Many more than the announced buffers hold, longer ones too, all at once.
        let long = HCIPacket(.acl, PacketBuffer([1, 0x20, 0x00, 0x04] + [UInt8](repeating: 5, count: 1_024)))
        for _ in 0..<500 {
            bench.transport.inject(data(1))
            bench.transport.inject(long)
        }
        bench.run()
        #expect(seen == 1_000)
        #expect(returned(bench) == 1_000)
    }

    @Test func aReportThatTheControllerRefusesChangesNothing() throws {
        let bench = bench()
        bench.connect(1)?.onReceive = { _, _ in }
        var answered = 0
        bench.host.send(LERand()) { _ in answered += 1 }
        bench.controller.complete(HostNumberOfCompletedPackets.opcode, [HCIStatus.invalidParameters.rawValue])
        bench.run()
        #expect(answered == 1)
        #expect(bench.information != nil)
        #expect(bench.host.connections.count == 1)
        #expect(bench.host.counters.refusedCredits == 1)
        #expect(bench.host.counters.unexpectedAnswers == 0)
    }

    @Test func theCommandThatNothingAnswersNeitherWaitsNorIsWaitedFor() throws {
        let bench = bench()
        bench.connect(1)
        bench.controller.reaction = { $0 == LERand.opcode ? .silence : .answer }
        var results: [String] = []
        bench.host.send(LERand()) { _ in results.append("rand") }
        bench.host.send(HostNumberOfCompletedPackets(entries: [entry(1, 1)])) { _ in results.append("report") }
        bench.run(.milliseconds(1))
        #expect(bench.transport.commandNames == ["LE Rand", "Host Number Of Completed Packets"])
        #expect(results == ["report"])
    }

    @Test func theMachineIsBoundedByItsBatch() {
        var credits = HostCredits()
        #expect(credits.consumed(.init(rawValue: 1)) == .wait)
        #expect(credits.take() == nil)
        credits.reset(HostBuffers(packetCount: 60_000))
        var actions: [HostCredits.Action] = []
        for handle in 0..<UInt16(HostCredits.maximumEntries) {
            actions.append(credits.consumed(.init(rawValue: handle)))
        }
        #expect(actions.first == .startTimer)
        #expect(actions.last == .report)
        #expect(actions.dropFirst().dropLast().allSatisfy { $0 == .wait })
        let report = credits.take()
        #expect(report.map { HCIPacket($0).bytes.count } == 3 + 1 + 4 * HostCredits.maximumEntries)
        credits.reset(HostBuffers(packetCount: 0))
        #expect(credits.consumed(.init(rawValue: 1)) == .report)
    }
}
