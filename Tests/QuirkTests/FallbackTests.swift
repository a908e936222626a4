import CoreBluetooth
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import LinkLayer
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

private final class HeardCounter: Sendable {
    private let heard = Mutex(0)
    var count: Int { heard.withLock { $0 } }
    func add() { heard.withLock { $0 += 1 } }
}

/// Tests that fallbacks take effect and are remembered.
@Suite struct FallbackTests {
    private func fallbacks(of device: SimulatedDevice) -> Set<ControllerFallback> {
        device.withSystem { $0.controllers.device?.controllerInformation?.fallbacks ?? [] }
    }

    /// The commands of a second start of the system, and the result of the first one.
    ///
    /// - Parameter time: How long another app scans during the first start, without doing anything else.
    private func commandsOfASecondStart(
        _ quirk: ControllerQuirk,
        after time: Duration? = nil
    ) -> (first: [Opcode], second: [Opcode], visits: Bool) {
        let log = OctetLog()
        let scenario = QuirkScenario(phone: [quirk], hasVisitor: time == nil, phoneCapture: log)
        let scanner = time.map { _ in scenario.phone.launch("scanner") { _ in QuirkCollector(reads: false) } }
        if let time { scenario.world.run(for: time) }
        let visits = scanner.map { $0.found > 0 } ?? scenario.visits(1)
        let first = log.commands
        scenario.phone.restart()
        let again = scenario.phone.launch("visitor") { _ in QuirkVisitor(isKnown: time == nil) }
        let visitsAgain = scenario.world.run(for: .seconds(20)) { again.seen.visits >= 1 }
        #expect(visitsAgain, "\(again.seen), \(scenario.world.now)")
        return (first, Array(log.commands.dropFirst(first.count)), visits)
    }

    @Test(
        "a phone scans with the older commands if the newer ones are refused or receive nothing, and starts with them the next time",
        arguments: [ControllerQuirk.extendedScanRefused, .extendedScanSilent]
    )
    func aPhoneFallsBackToTheOlderCommands(quirk: ControllerQuirk) throws {
        // Silence has to be detected twice.
        let (first, second, visits) = commandsOfASecondStart(quirk, after: .seconds(45))
        #expect(visits)
        let refused = try #require(first.firstIndex(of: LESetExtendedScanParameters.opcode))
        let scans = try #require(first.firstIndex(of: LESetScanEnable.opcode))
        // The two command sets are not mixed without a reset (Core Vol 4 Part E 3.1.1).
        #expect(refused < scans && first[refused..<scans].contains(Reset.opcode))
        #expect(second.contains(LESetScanEnable.opcode))
        #expect(!second.contains(LESetExtendedScanParameters.opcode))
        #expect(!second.contains(LEExtendedCreateConnection.opcode))
    }

    @Test("a phone connects with the older commands if the newer one is refused, and remembers it")
    func aPhoneConnectsWithTheOlderCommands() throws {
        let (first, second, visits) = commandsOfASecondStart(.claimedCommandsRefused)
        #expect(visits)
        #expect(first.contains(LEExtendedCreateConnection.opcode))
        #expect(first.contains(LECreateConnection.opcode))
        #expect(second.contains(LECreateConnection.opcode))
        #expect(!second.contains(LEExtendedCreateConnection.opcode))
    }

    @Test("a phone scans with the newer commands if the older ones hang, and starts with them the next time")
    func aPhoneFallsBackToTheNewerCommands() {
        let (first, second, visits) = commandsOfASecondStart(.legacyScanHangs)
        #expect(visits)
        #expect(first.count { $0 == LESetScanEnable.opcode } == ControllerMemory.hangsBeforeFallback)
        #expect(first.contains(LESetExtendedScanEnable.opcode))
        #expect(second.contains(LESetExtendedScanEnable.opcode))
        #expect(!second.contains(LESetScanEnable.opcode))
    }

    @Test("apps are not affected by a change to the older commands")
    func appsNoticeNothing() {
        for quirk in [ControllerQuirk.extendedScanRefused, .extendedScanSilent, .claimedCommandsRefused] {
            let scenario = QuirkScenario(phone: [quirk])
            #expect(scenario.visits(2), "\(scenario.story)")
            #expect(scenario.visitor.seen.states == [.poweredOn])
            #expect(scenario.visitor.seen.errors.isEmpty)
            #expect(fallbacks(of: scenario.phone) == [.legacyCommands])
        }
    }

    @Test("behaviour 3.41: apps are affected neither by 2M that is refused nor by connection requests that are lost")
    func appsNoticeNothingOfRequests() {
        for (quirk, expected) in [
            (ControllerQuirk.initiating2MRefused, [ControllerFallback.no2MInitiating]), (.connectionsFail, []),
        ] {
            let scenario = QuirkScenario(phone: [quirk])
            #expect(scenario.visits(3), "\(scenario.story)")
            #expect(
                scenario.visitor.seen.states == [.poweredOn] && scenario.visitor.seen.errors.isEmpty,
                "\(scenario.story)"
            )
            #expect(fallbacks(of: scenario.phone) == Set(expected) && scenario.phone.quirksShown[quirk] == 1)
        }
    }

    @Test("a phone whose controller refuses 2M when it initiates connects without it from the next start on")
    func aPhoneRemembersThat2MIsRefused() {
        let scenario = QuirkScenario(phone: [.initiating2MRefused])
        #expect(scenario.visits(1), "\(scenario.story)")
        scenario.phone.restart()
        let again = scenario.phone.launch("visitor") { _ in QuirkVisitor(isKnown: true) }
        #expect(scenario.world.run(for: .seconds(20)) { again.seen.visits >= 1 }, "\(again.seen)")
        #expect(scenario.phone.quirksShown[.initiating2MRefused] == 1)
    }

    @Test("the two command sets are not mixed, whichever fallback is in use (quirk 19)")
    func theSetsOfCommandsAreNotMixed() {
        let others: [ControllerQuirk?] = [
            nil, .extendedScanSilent, .legacyScanHangs, .claimedCommandsRefused, .extendedScanRefused,
            .initiating2MRefused,
        ]
        for other in others {
            let scenario = QuirkScenario(phone: Set([.strictCommandSets] + [other].compactMap(\.self)))
            #expect(scenario.visits(2), "\(scenario.story)")
            #expect(scenario.phone.quirksShown[.strictCommandSets] == nil, "\(scenario.story)")
        }
    }

    @Test("behaviour 3.1: apps that wait for several devices get them all if the accept list is refused (quirk 21)")
    func severalConnectionsAreMadeWithoutTheList() {
        let world = SimulatedWorld(seed: 1)
        var options = DeviceOptions()
        options.quirks = [.acceptListConnectRefused]
        let phone = world.addDevice(named: "Phone", options: options)
        let far = Position(x: 10_000)
        let sensors = (0..<3).map {
            world.addDevice(named: "Sensor \($0)", at: Position(x: 1), options: DeviceOptions(addressLifetime: nil))
        }
        let apps = sensors.map { $0.launch("sensor") { _ in QuirkSensor() } }
        let app = phone.launch("collector") { _ in QuirkCollector(reads: false) }
        #expect(world.run(for: .seconds(20)) { app.found == 3 })
        app.stopScan()
        for sensor in sensors { sensor.move(to: far) }
        for number in 0..<3 { app.connect(to: number) }
        world.run(for: .seconds(600))
        #expect(app.connected.isEmpty)
        #expect(app.failed.isEmpty)
        for (number, sensor) in sensors.enumerated() {
            sensor.move(to: Position(x: 1))
            #expect(world.run(for: .seconds(30)) { app.connected.count == number + 1 }, "\(number): \(app.connected)")
        }
        #expect(app.failed.isEmpty && phone.quirksShown[.acceptListConnectRefused] ?? 0 > 0)
        withExtendedLifetime(apps) {}
    }

    @Test("scanning and connecting take turns if the controller refuses one beside the other")
    func scanningAndConnectingTakeTurns() {
        let scenario = QuirkScenario(phone: [.statesLie])
        #expect(scenario.visits(2, within: .seconds(15)), "\(scenario.story)")
        #expect(fallbacks(of: scenario.phone) == [.takesTurns])
        let shown = scenario.phone.quirksShown[.statesLie]
        #expect(scenario.visits(4), "\(scenario.story)")
        #expect(scenario.phone.quirksShown[.statesLie] == shown, "a known fault is not tried again")
    }

    @Test("a controller known not to do two things at once is not asked to, from the first connection on")
    func turnsAreTakenFromTheBeginning() {
        let scenario = QuirkScenario(phone: [.statesLie])
        #expect(scenario.visits(1), "\(scenario.story)")
        let shown = scenario.phone.quirksShown[.statesLie]
        scenario.phone.restart()
        let again = scenario.phone.launch("visitor") { _ in QuirkVisitor(isKnown: true) }
        #expect(scenario.world.run(for: .seconds(30)) { again.seen.visits >= 1 }, "\(again.seen)")
        #expect(shown != nil && scenario.phone.quirksShown[.statesLie] == shown)
    }

    @Test("the Coded PHY is not used after it has been refused, and the scan goes on without it")
    func theCodedPHYIsLeftAlone() {
        let scenario = QuirkScenario(phone: [.codedRefused], hasVisitor: false)
        scenario.world.run(for: .seconds(1))
        let heard = HeardCounter()
        scenario.phone.withSystem { system in
            var settings = ScanSettings(isActive: true)
            settings.phys = [.le1M, .coded]
            try? system.controllers.device?.scan(
                settings,
                for: heard,
                onSighting: { _ in heard.add() },
                onEnd: { _ in }
            )
        }
        #expect(scenario.world.run(for: .seconds(5)) { heard.count > 0 })
        #expect(scenario.phone.quirksShown[.codedRefused] == 1)
        #expect(fallbacks(of: scenario.phone) == [.noCodedPHY])
    }

    @Test("a controller that is plugged in again is recognised")
    func aControllerThatIsPutBackIsKnown() {
        let scenario = QuirkScenario(phone: [.extendedScanRefused])
        #expect(scenario.visits(1))
        let shown = scenario.phone.quirksShown[.extendedScanRefused]
        scenario.phone.setController(isPluggedIn: false)
        scenario.world.run(for: .seconds(3))
        scenario.phone.setController(isPluggedIn: true)
        #expect(scenario.visits(3), "\(scenario.story)")
        #expect(scenario.phone.quirksShown[.extendedScanRefused] == shown)
    }

    @Test("a working controller in an empty place is tried with the older commands, and then uses the newer ones again")
    func aGoodControllerInAnEmptyPlace() {
        let scenario = QuirkScenario()
        scenario.sensor.setController(isPluggedIn: false)
        scenario.world.run(for: .seconds(31))
        scenario.sensor.setController(isPluggedIn: true)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(fallbacks(of: scenario.phone).isEmpty)
        #expect(scenario.visitor.seen.states == [.poweredOn])
    }

    @Test(
        "an app that discovers the first device during a trial of a working controller is not affected",
        arguments: [12, 15, 19, 25]
    )
    func othersComeDuringATrial(after seconds: Int) {
        let scenario = QuirkScenario()
        scenario.sensor.setController(isPluggedIn: false)
        scenario.world.run(for: .seconds(seconds))
        scenario.sensor.setController(isPluggedIn: true)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(scenario.visitor.seen.states == [.poweredOn])
        #expect(scenario.visitor.seen.errors.isEmpty)
        #expect(scenario.phone.withSystem { $0.controllers.memory.entries.isEmpty })
    }

    @Test(
        "no data packet from the host is flagged as if it came from the controller, so none is lost where that matters"
    )
    func noDataAreMarkedAsAControllersAre() {
        let log = OctetLog()
        let scenario = QuirkScenario(phone: [.startMarkIgnored], sensor: [.startMarkIgnored], phoneCapture: log)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(log.boundaries.count > 20)
        #expect(log.boundaries.allSatisfy { $0 == 0b00 || $0 == 0b01 })
        #expect(scenario.phone.quirksShown.isEmpty)
        #expect(scenario.sensor.quirksShown.isEmpty)
    }

    @Test("truncated answers are completed, and no command for BR/EDR is sent that would hang")
    func shortAnswersAreMadeUpFor() throws {
        let log = OctetLog()
        let scenario = QuirkScenario(phone: [.shortReplies], phoneCapture: log)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(scenario.visitor.seen.states == [.poweredOn])
        #expect(fallbacks(of: scenario.phone).isEmpty)
        #expect(scenario.phone.quirksShown[.shortReplies] ?? 0 >= 3)
        // Group 3 except Reset, the event masks and flow control is for BR/EDR. So are groups 1 and 2, except
        // Disconnect and the commands that read a peer's properties (Core Vol 4 Part E 7.1 to 7.3).
        let ofLE: [Opcode] = [
            Reset.opcode, SetEventMask.opcode, SetEventMaskPage2.opcode, WriteLEHostSupport.opcode, Disconnect.opcode,
            SetControllerToHostFlowControl.opcode, HostBufferSize.opcode, HostNumberOfCompletedPackets.opcode,
            ReadRemoteVersionInformation.opcode, WriteAuthenticatedPayloadTimeout.opcode,
        ]
        let others = Set(log.commands.filter { $0.rawValue >> 10 <= 3 }).subtracting(ofLE)
        #expect(others.isEmpty, "\(others)")
        let information = scenario.phone.withSystem { $0.controllers.device?.controllerInformation }
        #expect(try #require(information).supports(LEExtendedCreateConnection.self))
    }

    @Test("a peer that repeats its version is answered once")
    func aVersionIsAnsweredOnce() {
        let air = OctetLog()
        let scenario = QuirkScenario(phone: [.versionRepeated], hasVisitor: false)
        scenario.world.captureAir { air.add($0) }
        let caller = scenario.phone.launch("caller") { _ in QuirkCollector(reads: false) }
        #expect(scenario.world.run(for: .seconds(5)) { caller.found > 0 })
        caller.connect(to: 0)
        scenario.world.run(for: .seconds(3))
        #expect(caller.connected == [0])
        let told = scenario.phone.quirksShown[.versionRepeated] ?? 0
        // LL_VERSION_IND, six octets (Core Vol 6 Part B 2.4.2.13).
        #expect(told == 3)
        #expect(air.controlPDUs(0x0C, length: 6) == 1)
    }

    @Test("a pending connection survives the accept list, which changes of the resolving list clear")
    func pendingConnectionsSurviveListChanges() {
        let world = SimulatedWorld(seed: 1)
        var options = DeviceOptions()
        options.quirks = [.staleAddresses]
        let phone = world.addDevice(named: "Phone", options: options)
        let far = Position(x: 10_000)
        var apps: [QuirkSensor] = []
        // Sensors with fixed addresses are recognised by them.
        let sensors = (0..<3).map { number in
            world.addDevice(
                named: "Sensor \(number)",
                at: far,
                options: DeviceOptions(addressLifetime: number == 0 ? .seconds(900) : nil)
            )
        }
        phone.person.behaves(.agrees(lookingAt: sensors), after: .milliseconds(100))
        for sensor in sensors {
            sensor.person.behaves(.agrees(lookingAt: [phone]), after: .milliseconds(100))
            apps.append(sensor.launch("sensor") { _ in QuirkSensor() })
        }
        let app = phone.launch("collector") { _ in QuirkCollector(reads: true) }
        for (number, sensor) in sensors.enumerated() {
            sensor.move(to: Position(x: 1))
            #expect(world.run(for: .seconds(20)) { app.found == number + 1 })
        }
        app.stopScan()
        for number in [1, 2] {
            sensors[number].move(to: far)
            app.connect(to: number)
        }
        world.run(for: .seconds(1))
        // The bond with this one changes the resolving list.
        app.connect(to: 0)
        #expect(world.run(for: .seconds(20)) { app.values == [0] }, "\(app.connected)")
        world.run(for: .seconds(2))
        #expect(phone.quirksShown[.staleAddresses] ?? 0 > 0)
        for number in [2, 1] {
            sensors[number].move(to: Position(x: 1))
            #expect(
                world.run(for: .seconds(20)) { app.connected.contains(number) },
                "\(number): \(app.connected)"
            )
        }
        #expect(app.failed.isEmpty)
        withExtendedLifetime(apps) {}
    }

    @Test("pairing succeeds where an address takes effect only with the next parameters")
    func pairingHoldsThoughAddressesAreStale() {
        let scenario = QuirkScenario(sensor: [.staleAddresses], addressLifetime: .seconds(2))
        scenario.sensor.setController(isPluggedIn: true)
        // The phone arrives after the address has changed.
        scenario.phone.setController(isPluggedIn: false)
        scenario.world.run(for: .seconds(7))
        scenario.phone.setController(isPluggedIn: true)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(scenario.visitor.seen.errors.isEmpty)
        #expect(scenario.sensor.quirksShown[.staleAddresses] != nil)
    }

    @Test(
        "pairing succeeds whenever data overtake the events that they depend on",
        arguments: 1...12 as ClosedRange<UInt64>
    )
    func pairingHoldsWheneverDataOvertakeEvents(seed: UInt64) {
        let both: Set<ControllerQuirk> = [.dataBeforeConnection, .dataBeforeEncryption]
        for scenario in [QuirkScenario(seed: seed, phone: both), QuirkScenario(seed: seed, sensor: both)] {
            #expect(scenario.visits(3), "\(scenario.story)")
            #expect(scenario.visitor.seen.errors.isEmpty, "\(scenario.story)")
        }
    }
}
