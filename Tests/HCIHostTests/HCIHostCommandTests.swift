import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import HCIHost
import RandomPackets
import Testing

@testable import HCIHost

@Suite struct HCIHostCommandTests {
    @Test func aCommandComesBackWithItsReturnParameters() throws {
        let bench = HostBench.up()
        var numbers: [UInt64] = []
        bench.host.send(LERand()) { numbers.append((try? $0.get().number) ?? 0) }
        bench.run(.milliseconds(100))
        #expect(numbers == [0x0102_0304_0506_0708])
    }

    @Test func aRefusalKeepsTheCommandAndTheReason() {
        let bench = HostBench.up()
        bench.controller.reaction = { _ in .refuse(.controllerBusy) }
        var errors: [HCICommandError] = []
        bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } }
        bench.run(.milliseconds(100))
        #expect(errors == [.refused(LERand.opcode, .controllerBusy)])
        #expect(errors.first?.status == .controllerBusy)
    }

    @Test func commandsGoOneAfterTheOther() {
        let bench = HostBench.up()
        var order: [Int] = []
        for index in 0..<5 { bench.host.send(LERand()) { _ in order.append(index) } }
        #expect(bench.transport.commandNames.count == 1)
        bench.run(.milliseconds(100))
        #expect(order == [0, 1, 2, 3, 4])
        #expect(bench.transport.commandNames.count == 5)
    }

    @Test func commandsFailBeforeTheHostIsReady() {
        let bench = HostBench()
        var errors: [HCICommandError] = []
        bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } }
        #expect(errors.isEmpty)
        bench.run(.milliseconds(100))
        #expect(errors == [.host(.notRunning)])
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("AB-H06: all callers that wait for a controller get the same error")
    func oneErrorForAllWhoWait() throws {
        let bench = HostBench.up()
        bench.connect(0x40)
        bench.controller.reaction = { $0 == LERand.opcode ? .silence : .answer }
        var errors: [HCICommandError] = []
        for _ in 0..<3 { bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } } }
        bench.host.send(Disconnect()) { if case .failure(let error) = $0 { errors.append(error) } }
        bench.run(.seconds(3))
        #expect(errors == Array(repeating: .host(.commandTimedOut(LERand.opcode)), count: 4))
        #expect(bench.disconnections.map(\.handle) == [0x40])
        #expect(bench.disconnections.map(\.reason) == [.hardwareFailure])
        #expect(bench.information != nil)
        #expect(bench.states.suffix(2).first == .starting)
        #expect(bench.host.connections.isEmpty)
        // The late answer no longer counts.
        bench.controller.complete(LERand.opcode, LERand.Response().encoded())
        bench.run(.milliseconds(100))
        #expect(bench.host.counters.unexpectedAnswers == 1)
    }

    @Test(
        "the time-out for a controller's answer starts when the transport opens, so a driver may load its firmware first"
    )
    func timeForAnAnswerBeginsWhenTheLineIsOpen() {
        let bench = HostBench()
        bench.transport.isOpening = true
        bench.controller.reaction = { _ in .silence }
        bench.host.start()
        bench.run(.seconds(24.5))
        #expect(bench.transport.commandNames == ["Reset"])
        #expect(bench.states == [.starting])
        bench.transport.isOpening = false
        // Polling notices the opening up to a second late.
        bench.run(CommandQueue.resetTimeout)
        #expect(bench.states == [.starting])
        bench.run(HCIHost.openingPollInterval)
        #expect(bench.error == .commandTimedOut(Reset.opcode))
    }

    @Test func aLineThatNeverOpensIsAwaitedForSoLong() {
        let bench = HostBench()
        bench.transport.isOpening = true
        bench.controller.reaction = { _ in .silence }
        bench.host.start()
        let timeout = HCIHost.openingPollInterval * HCIHost.maximumOpeningPolls + CommandQueue.resetTimeout
        bench.run(timeout - .seconds(1))
        #expect(bench.states == [.starting])
        bench.run(.seconds(1))
        #expect(bench.error == .commandTimedOut(Reset.opcode))
    }

    @Test("AB-H06: when the reset fails too, both causes are kept")
    func aResetThatFailsTooKeepsBothCauses() {
        let bench = HostBench.up()
        bench.controller.reaction = { _ in .silence }
        var errors: [HCICommandError] = []
        bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } }
        bench.run(.seconds(13))
        let cause = HCIHostError.commandTimedOut(LERand.opcode)
        #expect(bench.error == .resetFailed(after: cause, cause: .commandTimedOut(Reset.opcode)))
        #expect(errors == [.host(cause)])
        #expect(
            bench.error?.description
                == "the controller does not answer LE Rand (0x2018); the reset failed too: the controller does not "
                + "answer Reset (0x0c03)"
        )
        bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } }
        bench.run(.milliseconds(100))
        #expect(errors.last == bench.error.map { .host($0) })
    }

    @Test func aHardwareErrorResetsTheController() {
        let bench = HostBench.up()
        bench.connect(1)
        bench.inject(HardwareError(code: 7))
        bench.run(.milliseconds(100))
        #expect(bench.disconnections.map(\.reason) == [.hardwareFailure])
        #expect(bench.transport.commandNames.first == "Reset")
        #expect(bench.information != nil)
        #expect(bench.host.counters.resets == 1)
    }

    @Test func resetsAreCountedForAWhileOnly() {
        let bench = HostBench.up()
        for _ in 0..<10 {
            bench.inject(HardwareError(code: 7))
            bench.run(HCIHost.resetWindow + .seconds(1))
        }
        #expect(bench.information != nil)
        for _ in 0..<4 { bench.inject(HardwareError(code: 9)) }
        bench.run(.milliseconds(100))
        #expect(bench.error == .resetTooOften(cause: .hardwareError(9)))
        #expect(bench.error?.status == .hardwareFailure)
    }

    @Test func stoppingEndsAllAndStartingBeginsAnew() {
        let bench = HostBench.up()
        bench.connect(1)
        var errors: [HCICommandError] = []
        bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } }
        bench.host.stop()
        #expect(bench.host.state == .down)
        #expect(errors == [.host(.notRunning)])
        #expect(bench.disconnections.map(\.reason) == [.localHostTerminated])
        bench.run(.milliseconds(100))
        #expect(bench.transport.commandNames == ["LE Rand", "Reset"])
        bench.start(.milliseconds(100))
        #expect(bench.information != nil)
    }

    @Test func stoppingFromACallbackIsRespected() {
        let bench = HostBench.up()
        bench.connect(1)
        bench.host.onDisconnection = { [unowned bench] _, _ in bench.host.stop() }
        bench.inject(HardwareError(code: 7))
        bench.run(.seconds(20))
        #expect(bench.host.state == .down)
    }

    /// An event from before a restart is not delivered further when its first observer restarts the host.
    @Test(arguments: [true, false])
    func anEventEndsWithItsTime(startsAnew: Bool) {
        let bench = HostBench.up()
        var seen = 0
        bench.host.onEvent(LEEnhancedConnectionComplete.self) { _ in seen += 1 }
        bench.host.onConnection = { [unowned bench] _ in
            bench.host.stop()
            if startsAnew { bench.host.start() }
        }
        bench.inject(HostBench.connectionComplete(1))
        bench.run(.milliseconds(100))
        #expect(seen == 0)
        #expect(bench.host.connections.isEmpty)
        #expect((bench.information != nil) == startsAnew)
    }

    @Test func eventsReachThoseWhoAskedForThem() {
        let bench = HostBench.up()
        bench.connect(1)
        var seen: [String] = []
        bench.host.onEvent(LEAdvertisingReport.self) { seen.append("a \($0.reports.count)") }
        bench.host.onEvent(LEAdvertisingReport.self) { seen.append("b \($0.reports.count)") }
        bench.host.onEvent(LEReadRemoteFeaturesComplete.self) { seen.append("\($0.features)") }
        bench.inject(LEAdvertisingReport(reports: [AdvertisingReport()]))
        bench.inject(
            LEReadRemoteFeaturesComplete(handle: .init(rawValue: 1), features: [.encryption, .phy2M])
        )
        #expect(seen == ["a 1", "b 1", "[encryption, 2M PHY]"])
    }

    @Test func requestsThatNobodyTakesAreRefused() {
        let bench = HostBench.up()
        bench.connect(1, role: .peripheral)
        bench.inject(LELongTermKeyRequest(handle: .init(rawValue: 1), random: 0, encryptedDiversifier: 0))
        bench.inject(
            LERemoteConnectionParameterRequest {
                $0.handle = .init(rawValue: 1)
                $0.intervalMin = 6
                $0.intervalMax = 6
                $0.maxLatency = 0
                $0.supervisionTimeout = 100
            }
        )
        #expect(
            bench.transport.commandNames == [
                "LE Long Term Key Request Negative Reply", "LE Remote Connection Parameter Request Negative Reply",
            ]
        )
        bench.transport.sent = []
        bench.host.onEvent(LELongTermKeyRequest.self) { _ in }
        bench.inject(LELongTermKeyRequest(handle: .init(rawValue: 1), random: 0, encryptedDiversifier: 0))
        bench.inject(LELongTermKeyRequest(handle: .init(rawValue: 2), random: 0, encryptedDiversifier: 0))
        #expect(bench.transport.commandNames.isEmpty)
        #expect(bench.host.counters.unknownHandles == 1)
    }

    @Test("AB-H02: a truncated event of any kind does no harm to the host")
    func noPartOfAnyEventUpsetsTheHost() throws {
        func truncated<E: HCIEvent>(_ type: E.Type, _ bench: HostBench) {
            let bytes = HCIPacket(RandomFields.value(type, RandomSource(seed: 3))).bytes
            for length in 0..<bytes.count {
                bench.transport.inject(HCIPacket(.event, bytes.prefix(upTo: length)))
                // The same with a matching length, so that only the fields are missing.
                guard length >= 2 else { continue }
                var short = bytes.prefix(upTo: length)
                short[1] = UInt8(length - 2)
                if [CommandComplete.eventCode, HardwareError.eventCode].contains(type.eventCode) { continue }
                bench.transport.inject(HCIPacket(.event, short))
            }
        }
        let bench = HostBench.up()
        bench.connect(1)
        for type in HCIEventRegistry.all { truncated(type, bench) }
        bench.run(.milliseconds(100))
        #expect(bench.information != nil)
        #expect(bench.host.connections.map(\.handle.rawValue) == [1])
        #expect(bench.host.counters.malformed > 400)
    }
}

/// The texts of errors in logs.
@Suite struct ErrorTextTests {
    @Test("the error of a closed transport is a clause, without the names of types and cases")
    func transportErrors() {
        let expected: [(HCITransportError, String)] = [
            (.closedByPeer, "the transport to the controller has closed: the other end closed it"),
            (.failed(reason: "the link was reset"), "the transport to the controller has closed: the link was reset"),
            (.unreachable(address: "tcp:::1:9", reason: "refused"), "cannot reach the controller tcp:::1:9: refused"),
            (
                .malformed(PacketError(.length(3), at: "packet type")),
                "the transport to the controller has closed: the other end sent octets that are not an HCI packet: "
                    + "packet type: invalid length 3"
            ),
        ]
        for (error, text) in expected { #expect("\(HCIHostError.transport(error))" == text) }
        #expect("\(HCITransportError.unreachable(address: "usb", reason: "busy"))" == "cannot reach usb: busy")
    }
}
