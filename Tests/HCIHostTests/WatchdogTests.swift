import BluetoothTypes
import ControllerStandIns
import HCI
import Testing

@testable import HCIHost

/// A controller that omits an event the host waits for, or never returns its buffers.
@Suite struct WatchdogTests {
    private func resets(_ bench: HostBench) -> Int { bench.host.counters.resets }

    private func enabling(_ link: HCIConnection) -> LEEnableEncryption {
        LEEnableEncryption(
            handle: link.handle,
            random: 0,
            encryptedDiversifier: 0,
            longTermKey: PacketBuffer([UInt8](repeating: 7, count: 16))
        )
    }

    private func reply(to link: HCIConnection) -> LELongTermKeyRequestReply {
        var reply = LELongTermKeyRequestReply()
        reply.handle = link.handle
        reply.longTermKey = PacketBuffer([UInt8](repeating: 7, count: 16))
        return reply
    }

    private func disconnects(_ bench: HostBench) -> Int {
        bench.transport.commandNames.filter { $0 == "Disconnect" }.count
    }

    @Test("AB-H06: a controller that accepts no commands is reset after 4 s")
    func aControllerThatTakesNoCommandsIsReset() {
        let bench = HostBench.up()
        bench.controller.credits = 0
        bench.host.send(LERand())
        bench.run(.milliseconds(100))
        bench.host.send(LERand())
        bench.run(.milliseconds(3_800))
        #expect(resets(bench) == 0)
        bench.controller.credits = 1
        bench.run(.milliseconds(300))
        #expect(resets(bench) == 1)
        #expect(bench.information != nil)
    }

    @Test("AB-L09: data stuck in the controller for 45 s end the link; data that are sent keep it")
    func dataThatTheControllerKeepsEndTheLink() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        let other = try #require(bench.connect(2))
        link.send([1])
        link.send([1])
        bench.run(.seconds(40))
        // One buffer is returned: the other one has 45 s from here.
        bench.completed((1, 1))
        other.send([2])
        bench.run(.seconds(4))
        bench.completed((2, 1))
        bench.run(.milliseconds(40_900))
        #expect(disconnects(bench) == 0)
        bench.run(.milliseconds(200))
        #expect(disconnects(bench) == 1)
        #expect(bench.host.counters.stalledLinks == 1)
        bench.inject(DisconnectionComplete(handle: link.handle, reason: .localHostTerminated))
        #expect(bench.disconnections.map(\.handle) == [1])
        #expect(bench.host.freeBuffers == 4)
        bench.run(.seconds(300))
        #expect(resets(bench) == 0)
        #expect(disconnects(bench) == 1)
    }

    @Test func dataAreLookedAfterAgainAfterALongSilence() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        link.send([1])
        bench.completed((1, 1))
        bench.run(.seconds(200))
        link.send([1])
        bench.run(.seconds(44))
        #expect(disconnects(bench) == 0)
        bench.run(.seconds(2))
        #expect(disconnects(bench) == 1)
    }

    @Test("AB-H06: a controller that keeps the data of several links is reset")
    func aControllerThatKeepsTheDataOfSeveralLinksIsReset() throws {
        let bench = HostBench.up()
        for handle: UInt16 in [1, 2] { bench.connect(handle)?.send([1]) }
        bench.run(.seconds(46))
        #expect(resets(bench) == 1)
        #expect(bench.disconnections.map(\.handle) == [1, 2])
        #expect(bench.states.count == 4)
        #expect(bench.information != nil)
        bench.run(.seconds(100))
        #expect(resets(bench) == 1)
    }

    @Test("AB-H06: links that repeatedly end in time with data stuck in the controller cause a reset")
    func linksThatEndWithDataMakeItBeReset() {
        let bench = HostBench.up()
        for (index, seconds) in [19, 30, 30].enumerated() {
            #expect(resets(bench) == 0)
            let link = bench.connect(UInt16(index))
            link?.send([1])
            bench.run(.seconds(Double(seconds)))
            bench.inject(DisconnectionComplete(handle: .init(rawValue: UInt16(index)), reason: .localHostTerminated))
        }
        bench.run(.milliseconds(100))
        #expect(resets(bench) == 1)
        #expect(bench.information != nil)
    }

    @Test("AB-H06: a link that the controller does not end causes a reset")
    func aLinkThatTheControllerDoesNotEndMakesItBeReset() throws {
        let bench = HostBench.up()
        // Its supervision timeout is 720 ms.
        let link = try #require(bench.connect(1))
        bench.host.send(Disconnect(handle: link.handle, reason: .remoteUserTerminated))
        bench.run(.milliseconds(5_600))
        #expect(resets(bench) == 0)
        bench.run(.milliseconds(300))
        #expect(resets(bench) == 1)
        #expect(bench.disconnections.map(\.handle) == [1])
    }

    @Test func aLinkThatEndsInTimeIsForgotten() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        bench.host.send(Disconnect(handle: link.handle, reason: .remoteUserTerminated))
        bench.run(.seconds(1))
        bench.inject(DisconnectionComplete(handle: link.handle, reason: .localHostTerminated))
        bench.connect(1)
        bench.run(.seconds(100))
        #expect(resets(bench) == 0)
        #expect(bench.host.connections.count == 1)
    }

    @Test(
        "AB-H06: encryption that is never reported ends the link, and then the controller is reset",
        arguments: [LERole.central, .peripheral]
    )
    func encryptionThatIsNeverReportedEndsTheLink(role: LERole) throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1, role: role))
        if role == .central {
            bench.host.send(enabling(link))
        } else {
            bench.host.send(reply(to: link))
        }
        bench.run(.seconds(44))
        #expect(disconnects(bench) == 0)
        bench.run(.seconds(2))
        #expect(disconnects(bench) == 1)
        #expect(bench.host.counters.stalledLinks == 1)
        #expect(resets(bench) == 0)
        bench.run(.seconds(6))
        #expect(resets(bench) == 1)
    }

    @Test func encryptionThatIsReportedIsForgotten() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        bench.host.send(enabling(link))
        bench.run(.seconds(1))
        bench.inject(EncryptionChange(handle: link.handle, state: .on))
        bench.run(.seconds(100))
        #expect(link.isEncrypted)
        #expect(disconnects(bench) == 0)
    }

    @Test("AB-H06: a connection attempt that does not end after its cancellation causes a reset")
    func anAttemptThatDoesNotEndMakesTheControllerBeReset() {
        let bench = HostBench.up()
        bench.host.send(LECreateConnection())
        // Waiting for a peer is not limited.
        bench.run(.seconds(600))
        bench.host.send(LECreateConnectionCancel())
        bench.run(.seconds(19))
        #expect(resets(bench) == 0)
        bench.run(.seconds(2))
        #expect(resets(bench) == 1)
        #expect(bench.information != nil)
    }

    @Test(arguments: [HCIStatus.success, .unknownConnection])
    func anAttemptThatEndsIsForgotten(status: HCIStatus) {
        let bench = HostBench.up()
        bench.host.send(LECreateConnection())
        bench.run(.milliseconds(100))
        bench.host.send(LECreateConnectionCancel())
        bench.run(.milliseconds(100))
        bench.inject(HostBench.connectionComplete(1, status: status))
        bench.run(.seconds(100))
        #expect(resets(bench) == 0)
    }

    @Test("a controller that fails again and again, each time after a while, is given up")
    func aControllerThatFailsAgainAndAgainIsGivenUp() {
        let bench = HostBench.up()
        for _ in 0..<HCIHost.maximumResets {
            bench.run(.seconds(100))
            bench.inject(HardwareError(code: 1))
            bench.run(.milliseconds(100))
            #expect(bench.information != nil)
        }
        bench.run(.seconds(100))
        bench.inject(HardwareError(code: 1))
        #expect(bench.error == .resetTooOften(cause: .hardwareError(1)))
    }

    @Test func oneThatHasWorkedForLongMayFailAgain() {
        let bench = HostBench.up()
        for _ in 0..<10 {
            bench.run(.seconds(121))
            bench.inject(HardwareError(code: 1))
            bench.run(.milliseconds(100))
        }
        #expect(bench.information != nil)
        #expect(resets(bench) == 10)
    }
}
