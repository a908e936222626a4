import CoreBluetooth
import EventLoops
import Foundation
import HCIHost
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService
@testable import BluetoothSimulation

/// Controllers that fail at each command of bring-up, connection, discovery or pairing, in each way, and are repaired
/// by each step. They recover, and apps continue without being relaunched.
@Suite struct RecoveryTests {
    /// Whether to test every command of connections too, which takes minutes: `HARALD_THOROUGH=1`.
    private static let isThorough = ProcessInfo.processInfo.environment["HARALD_THOROUGH"] != nil

    /// An app that only records the radio state.
    private final class Watcher: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        // Safe: state without a lock is set once.
        let states = Locked<[CBManagerState]>([])
        private var manager: CBCentralManager!

        override init() {
            super.init()
            manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "watcher"))
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            let state = central.state
            states.change { $0.append(state) }
        }
    }

    // MARK: Bring-up

    /// A device without neighbours, so that virtual time costs little.
    private func alone(_ failure: Failure, at command: Int, canResetDevice: Bool = true) -> (Patient, Watcher) {
        let device = SimulatedWorld(seed: 5).addDevice(named: "Phone")
        let watcher = device.launch("watcher") { _ in Watcher() }
        device.world.run(for: .milliseconds(200))
        return (Patient(device, failure, at: command, canResetDevice: canResetDevice), watcher)
    }

    private func bringUpCommands() throws -> Int {
        let (patient, _) = alone(Failure(fault: .silent, cure: .reset), at: .max)
        patient.device.world.run(for: .seconds(1))
        #expect(patient.reports.value.isEmpty)
        #expect(patient.device.withSystem { $0.controllers.state == .poweredOn })
        return patient.controller.commands
    }

    @Test(
        "a controller that fails at any command of bring-up, in any way, recovers",
        arguments: Failure.ofCommands
    )
    func aControllerDiesAtEachCommandOfItsBringUp(failure: Failure) throws {
        let count = try bringUpCommands()
        #expect(count > 15)
        // Withholding credits after the last command does no harm. Another Reset does not repair an unanswered Reset.
        let first = failure.cure == .reset ? 1 : 0
        for command in first..<(failure.fault == .noCredits ? count - 1 : count) {
            let (patient, watcher) = alone(failure, at: command)
            let controller = patient.controller
            patient.live(for: .seconds(300)) { controller.mendedBy != nil }
            patient.device.world.run(for: .seconds(2))
            let faults = patient.faults(failure)
            #expect(faults.isEmpty, "command \(command): \(faults)")
            #expect(watcher.states.value.last == .poweredOn)
            patient.device.world.run(for: RecoveryLadder.quietTime)
            #expect(patient.device.withSystem { $0.controllers.recovery.state } == .healthy)
        }
    }

    @Test("the recovery steps come in order, each one once or as often as its limit")
    func theStepsComeInOrder() {
        let (patient, watcher) = alone(Failure(fault: .degraded, cure: .powerOff), at: 12)
        let world = patient.device.world
        // The person does nothing: recovery retries at ever longer intervals.
        world.run(for: .seconds(600))
        let taken = patient.reports.value.compactMap { report -> Int? in
            if case .took(let step, _) = report { step.rawValue } else { nil }
        }
        let resets = Array(repeating: 1, count: HCIHost.maximumResets)
        // The first bring-up, then one on each new transport.
        #expect(Array(taken.prefix(12)) == resets + [2] + resets + [3] + resets + [4])
        #expect(patient.steps.filter { $0 == 2 }.count == 1)
        #expect(patient.steps.filter { $0 == 3 }.count == 1)
        let rounds = patient.steps.filter { $0 == 4 }.count
        // 8 s for four timeouts, and pauses of 1, 2, 4, 8, 16, 30 s.
        #expect((10...20).contains(rounds), "\(rounds)")
        #expect(patient.advices.value == 1)
        #expect(watcher.states.value.last == .unsupported)
        let status = patient.device.withSystem { $0.status.recovery }
        #expect(status?.step == 4)
        #expect(status?.advice?.contains("power the controller off") == true)
        // Later, the person acts after all.
        patient.device.setController(isPluggedIn: false)
        world.run(for: .seconds(1))
        patient.controller.powerCycle()
        patient.device.setController(isPluggedIn: true)
        world.run(for: .seconds(1))
        #expect(watcher.states.value.last == .poweredOn)
        #expect(patient.device.withSystem { $0.status.recovery } == nil)
    }

    @Test("step 3 is skipped on a transport that cannot reset the device")
    func stepThreeIsLeftOut() {
        let failure = Failure(fault: .silent, cure: .powerOff)
        let (patient, _) = alone(failure, at: 3, canResetDevice: false)
        let controller = patient.controller
        patient.live(for: .seconds(300)) { controller.mendedBy != nil }
        patient.device.world.run(for: .seconds(2))
        #expect(patient.faults(failure) == [])
        #expect(patient.reports.value.contains(.skipped(.resetDevice)))
    }

    @Test("a device reset that never completes times out, and step 4 follows")
    func aResetOfTheDeviceThatHasNoEnd() {
        let failure = Failure(fault: .silent, cure: .powerOff)
        let (patient, watcher) = alone(failure, at: 3)
        let controller = patient.controller
        controller.resetHangs = true
        #expect(patient.live(for: .seconds(300)) { controller.mendedBy != nil })
        patient.device.world.run(for: .seconds(2))
        #expect(patient.faults(failure) == [] && patient.steps.suffix(3) == [2, 3, 4], "\(patient.steps)")
        #expect(watcher.states.value.last == .poweredOn)
    }

    @Test("the wait for a device reset that never reports back is bounded")
    func aResetThatHangsIsNotAwaitedForEver() {
        let failure = Failure(fault: .silent, cure: .resetDevice)
        let (patient, watcher) = alone(failure, at: 3)
        let (controller, world) = (patient.controller, patient.device.world)
        controller.resetHangs = true
        #expect(patient.live(for: .seconds(100)) { controller.mendedBy == .resetDevice })
        // The reset itself took two seconds.
        world.run(for: RecoveryLadder.deviceResetTimeout - .seconds(3))
        #expect(watcher.states.value.last != .poweredOn)
        world.run(for: .seconds(2))
        #expect(watcher.states.value.last == .poweredOn)
        #expect(patient.faults(failure) == [])
        // The pending reset and its time-out are cancelled.
        world.run(for: RecoveryLadder.deviceResetTimeout)
        #expect(patient.steps == [1, 2, 3])
        #expect(watcher.states.value.last == .poweredOn)
    }

    @Test("AB-H06: a controller that returns has left the ladder, even if no poll happened while it was away")
    func returningControllersResetTheLadder() {
        let (patient, _) = alone(Failure(fault: .degraded, cure: .powerOff), at: 12)
        let (device, world) = (patient.device, patient.device.world)
        // The ladder is climbed, and pauses last half a minute.
        world.run(for: .seconds(400))
        let isClimbed = device.withSystem { $0.controllers.recovery.state != .healthy && $0.status.recovery?.step == 4 }
        #expect(isClimbed)
        // In such a pause no transport is open that could close.
        for _ in 0..<600 {
            if case .missing = device.withSystem({ $0.controllers.power.phase }) { break }
            world.run(for: .milliseconds(100))
        }
        let before = patient.reports.value.count
        device.setController(isPluggedIn: false)
        patient.controller.powerCycle()
        device.setController(isPluggedIn: true)
        world.run(for: .seconds(1))
        #expect(device.withSystem { $0.controllers.recovery.state == .healthy && $0.controllers.state == .poweredOn })
        #expect(patient.reports.value.dropFirst(before).contains(.left(at: .powerOff)))
    }

    @Test("managers see only resetting while a controller that has worked is repaired", arguments: [2, 3])
    func managersSeeResetting(cure: Int) throws {
        let failure = Failure(fault: .silent, cure: try #require(RecoveryStep(rawValue: cure)))
        // Fails at the first command after bring-up, which is that of the app's scan.
        let (patient, watcher) = alone(failure, at: try bringUpCommands())
        patient.device.world.run(for: .seconds(1))
        #expect(watcher.states.value == [.poweredOn, .resetting, .unsupported, .poweredOn])
        watcher.states.change { $0 = [] }
        let scanner = patient.device.launch("scanner") { _ in TenaciousReader() }
        patient.live(for: .seconds(60)) { watcher.states.value.last == .poweredOn }
        #expect(watcher.states.value == [.resetting, .poweredOn])
        #expect(patient.faults(failure) == [])
        #expect(scanner.seen.values == 0)
    }

    // MARK: Sessions

    /// A phone whose app reads a protected value of a sensor.
    private struct Session {
        let trust: TrustWorld
        let patient: Patient
        let reader: TenaciousReader

        init(_ failure: Failure, at command: Int, side: UnpluggingTests.Side) {
            trust = TrustWorld(seed: 5)
            patient = Patient(side == .phone ? trust.phone : trust.sensor, failure, at: command)
            reader = trust.phone.launch("reader") { _ in TenaciousReader() }
        }

        /// Runs until the app has read its value. The person forgets a peer that has lost its bond, and the app scans
        /// again for an unbonded peer whose address has changed (behaviour 3.1).
        func reads() -> Bool {
            let reader = reader
            for _ in 0..<12 {
                patient.live(for: .seconds(90)) { reader.seen.values > 0 || reader.seen.isForgotten }
                if reader.seen.values > 0 { break }
                trust.phone.withSystem { system in
                    for peer in system.peers.bondedPeers where peer.hasForgottenUs {
                        try? system.peers.forget(peer.identifier)
                    }
                }
                reader.beginAnew()
            }
            return reader.seen.values > 0
        }

        func faults(_ failure: Failure) -> [String] {
            guard reads() else { return ["the value was not read"] }
            // The value may have been read before the controller is repaired.
            let controller = patient.controller
            patient.live(for: .seconds(900)) { controller.mendedBy != nil }
            trust.world.run(for: .seconds(2))
            return patient.faults(failure)
        }
    }

    /// The number of commands in a run without a fault, from the first Reset to the protected value.
    private func commands(of side: UnpluggingTests.Side) throws -> Int {
        let session = Session(Failure(fault: .silent, cure: .reset), at: .max, side: side)
        try #require(session.reads())
        #expect(session.patient.reports.value.isEmpty)
        return session.patient.controller.commands
    }

    @Test(
        "a controller fails in the middle of a session, and the app still gets its value",
        arguments: UnpluggingTests.Side.allCases
    )
    func aControllerDiesInTheMiddleOfASession(side: UnpluggingTests.Side) throws {
        let (first, count) = (try bringUpCommands(), try commands(of: side))
        #expect(count > first)
        for command in stride(from: first, to: count, by: Self.isThorough ? 1 : 6) {
            let failures = Failure.ofCommands.filter { Self.isThorough || $0.cure != .powerOff }
            let failure = failures[command % failures.count]
            let faults = Session(failure, at: command, side: side).faults(failure)
            #expect(faults.isEmpty, "command \(command), \(failure.testDescription): \(faults)")
        }
    }

    @Test("AB-H06: a controller that never completes data is reset, and the app gets its value")
    func aControllerThatKeepsAllDataIsReset() throws {
        let failure = Failure(fault: .keepsData, cure: .reset)
        let session = Session(failure, at: try bringUpCommands() + 1, side: .phone)
        #expect(session.faults(failure) == [])
    }
}
