import CoreBluetooth
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import LinkLayer
import Synchronization
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Counts what is heard.
private final class HeardCounter: Sendable {
    private let heard = Mutex(0)
    var count: Int { heard.withLock { $0 } }
    func add() { heard.withLock { $0 += 1 } }
}

/// That what is done otherwise is really done, and remembered.
@Suite struct FallbackTests {
    private func fallbacks(of device: SimulatedDevice) -> Set<ControllerFallback> {
        device.withSystem { $0.attached?.device.controllerInformation?.fallbacks ?? [] }
    }

    /// The commands of a second start of the system, and how the first one ended.
    private func commandsOfASecondStart(_ quirk: ControllerQuirk) -> (first: [Opcode], second: [Opcode], visits: Bool) {
        let log = OctetLog()
        let scenario = QuirkScenario(phone: [quirk], phoneCapture: log)
        let visits = scenario.visits(1)
        let first = log.commands
        scenario.phone.restart()
        let again = scenario.phone.launch("visitor") { _ in QuirkVisitor(isKnown: true) }
        let visitsAgain = scenario.world.run(for: .seconds(20)) { again.seen.visits >= 1 }
        #expect(visitsAgain, "\(again.seen), \(scenario.world.now)")
        return (first, Array(log.commands.dropFirst(first.count)), visits)
    }

    @Test(
        "a phone scans with the older commands where the newer ones are refused or silent, and begins with them the next time",
        arguments: [ControllerQuirk.extendedScanRefused, .extendedScanSilent]
    )
    func aPhoneFallsBackToTheOlderCommands(quirk: ControllerQuirk) throws {
        let (first, second, visits) = commandsOfASecondStart(quirk)
        #expect(visits)
        let refused = try #require(first.firstIndex(of: LESetExtendedScanParameters.opcode))
        let scans = try #require(first.firstIndex(of: LESetScanEnable.opcode))
        // The two are not mixed without a reset (Core Vol 4 Part E 3.1.1).
        #expect(refused < scans && first[refused..<scans].contains(Reset.opcode))
        #expect(second.contains(LESetScanEnable.opcode))
        #expect(!second.contains(LESetExtendedScanParameters.opcode))
        #expect(!second.contains(LEExtendedCreateConnection.opcode))
    }

    @Test("a phone connects with the older commands where the newer one is refused, and remembers it")
    func aPhoneConnectsWithTheOlderCommands() throws {
        let (first, second, visits) = commandsOfASecondStart(.claimedCommandsRefused)
        #expect(visits)
        #expect(first.contains(LEExtendedCreateConnection.opcode) && first.contains(LECreateConnection.opcode))
        #expect(second.contains(LECreateConnection.opcode) && !second.contains(LEExtendedCreateConnection.opcode))
    }

    @Test("a phone scans with the newer commands where the older ones hang, and begins with them the next time")
    func aPhoneFallsBackToTheNewerCommands() {
        let (first, second, visits) = commandsOfASecondStart(.legacyScanHangs)
        #expect(visits)
        #expect(first.count { $0 == LESetScanEnable.opcode } == ControllerMemory.hangsBeforeFallback)
        #expect(first.contains(LESetExtendedScanEnable.opcode))
        #expect(second.contains(LESetExtendedScanEnable.opcode) && !second.contains(LESetScanEnable.opcode))
    }

    @Test("apps notice nothing of a change to the older commands")
    func appsNoticeNothing() {
        for quirk in [ControllerQuirk.extendedScanRefused, .extendedScanSilent, .claimedCommandsRefused] {
            let scenario = QuirkScenario(phone: [quirk])
            #expect(scenario.visits(2), "\(scenario.story)")
            #expect(scenario.visitor.seen.states == [.poweredOn] && scenario.visitor.seen.errors.isEmpty)
            #expect(fallbacks(of: scenario.phone) == [.legacyCommands])
        }
    }

    @Test("scanning and connecting take turns where the controller refuses one besides the other")
    func scanningAndConnectingTakeTurns() {
        let scenario = QuirkScenario(phone: [.statesLie])
        #expect(scenario.visits(2, within: .seconds(15)), "\(scenario.story)")
        #expect(fallbacks(of: scenario.phone) == [.takesTurns])
        let shown = scenario.phone.quirksShown[.statesLie]
        #expect(scenario.visits(4), "\(scenario.story)")
        #expect(scenario.phone.quirksShown[.statesLie] == shown, "once known, it is not tried again")
    }

    @Test("a controller that is known not to do two things at once is not asked to, from the first connection on")
    func turnsAreTakenFromTheBeginning() {
        let scenario = QuirkScenario(phone: [.statesLie])
        #expect(scenario.visits(1), "\(scenario.story)")
        let shown = scenario.phone.quirksShown[.statesLie]
        scenario.phone.restart()
        let again = scenario.phone.launch("visitor") { _ in QuirkVisitor(isKnown: true) }
        #expect(scenario.world.run(for: .seconds(30)) { again.seen.visits >= 1 }, "\(again.seen)")
        #expect(shown != nil && scenario.phone.quirksShown[.statesLie] == shown)
    }

    @Test("the Coded PHY is left alone once it has been refused, and the scan goes on without it")
    func theCodedPHYIsLeftAlone() {
        let scenario = QuirkScenario(phone: [.codedRefused], hasVisitor: false)
        scenario.world.run(for: .seconds(1))
        let heard = HeardCounter()
        scenario.phone.withSystem { system in
            var settings = ScanSettings(isActive: true)
            settings.phys = [.le1M, .coded]
            try? system.attached?.device.scan(settings, for: heard, onSighting: { _ in heard.add() }, onEnd: { _ in })
        }
        #expect(scenario.world.run(for: .seconds(5)) { heard.count > 0 })
        #expect(scenario.phone.quirksShown[.codedRefused] == 1)
        #expect(fallbacks(of: scenario.phone) == [.noCodedPHY])
    }

    @Test("a controller that is put back is known")
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

    @Test(
        "a good controller in an empty place is tried with the older commands, and driven with the newer ones after that"
    )
    func aGoodControllerInAnEmptyPlace() {
        let scenario = QuirkScenario()
        scenario.sensor.setController(isPluggedIn: false)
        scenario.world.run(for: .seconds(31))
        scenario.sensor.setController(isPluggedIn: true)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(fallbacks(of: scenario.phone).isEmpty)
        #expect(scenario.visitor.seen.states == [.poweredOn])
    }

    @Test("pairing holds where an address counts from the next parameters on only")
    func pairingHoldsThoughAddressesAreStale() {
        let scenario = QuirkScenario(sensor: [.staleAddresses], addressLifetime: .seconds(2))
        scenario.sensor.setController(isPluggedIn: true)
        // The phone comes when the address has changed.
        scenario.phone.setController(isPluggedIn: false)
        scenario.world.run(for: .seconds(7))
        scenario.phone.setController(isPluggedIn: true)
        #expect(scenario.visits(2), "\(scenario.story)")
        #expect(scenario.visitor.seen.errors.isEmpty)
        #expect(scenario.sensor.quirksShown[.staleAddresses] != nil)
    }

    @Test("pairing holds whenever data overtake the events that they need", arguments: 1...12 as ClosedRange<UInt64>)
    func pairingHoldsWheneverDataOvertakeEvents(seed: UInt64) {
        let both: Set<ControllerQuirk> = [.dataBeforeConnection, .dataBeforeEncryption]
        for scenario in [QuirkScenario(seed: seed, phone: both), QuirkScenario(seed: seed, sensor: both)] {
            #expect(scenario.visits(3), "\(scenario.story)")
            #expect(scenario.visitor.seen.errors.isEmpty, "\(scenario.story)")
        }
    }
}
