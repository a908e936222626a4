import CoreBluetooth
import EventLoops
import Foundation
import HCIHost
import LinkLayer
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Whatever controllers do that they should not: two devices find each other, pair, and meet again.
@Suite struct QuirkTests {
    /// Two quirks of one controller.
    struct Pair: Hashable, Sendable, CustomTestStringConvertible {
        let quirks: Set<ControllerQuirk>
        var testDescription: String { quirks.map(\.rawValue).sorted().joined(separator: " and ") }

        /// Whether no way to find and connect to somebody is left: those of one generation of commands are refused or lead to nothing,
        /// and those of the other one hang.
        var leavesNoWay: Bool {
            quirks.contains(.legacyScanHangs)
                && !quirks.isDisjoint(with: [.extendedScanSilent, .extendedScanRefused, .claimedCommandsRefused])
        }
    }

    /// Those that can be lived with: with broken firmware nobody can.
    static let bearable = ControllerQuirk.allCases.filter { $0 != .degraded }

    static let pairs: [Pair] = bearable.indices.flatMap { first in
        bearable[(first + 1)...].map { Pair(quirks: [bearable[first], $0]) }
    }

    /// Quirks that show in every encounter, by the device that they show at. The others need something that a host has to ask for.
    static let visibleAtPhone: Set<ControllerQuirk> = [
        .dataBeforeEncryption, .extendedScanSilent, .legacyScanHangs, .claimedCommandsRefused, .extendedScanRefused,
        .statesLie, .reservedPHYBits, .duplicatesHidden, .shortReplies, .debugTextAsData, .badBuffers, .versionRepeated,
    ]
    /// See ``visibleAtPhone``.
    static let visibleAtSensor: Set<ControllerQuirk> = [
        .dataBeforeConnection, .dataBeforeEncryption, .setEndBeforeConnection, .shortReplies, .debugTextAsData,
        .badBuffers, .versionRepeated,
    ]

    @Test("two devices meet twice though the phone's controller has a quirk", arguments: bearable)
    func thePhonesControllerHasAQuirk(quirk: ControllerQuirk) {
        let scenario = QuirkScenario(phone: [quirk])
        #expect(scenario.visits(2), "\(scenario.story)")
        if Self.visibleAtPhone.contains(quirk) { #expect(scenario.phone.quirksShown[quirk] != nil) }
    }

    @Test("two devices meet twice though the sensor's controller has a quirk", arguments: bearable)
    func theSensorsControllerHasAQuirk(quirk: ControllerQuirk) {
        let scenario = QuirkScenario(sensor: [quirk])
        #expect(scenario.visits(2), "\(scenario.story)")
        if Self.visibleAtSensor.contains(quirk) { #expect(scenario.sensor.quirksShown[quirk] != nil) }
    }

    @Test("two devices meet twice though both controllers have the same two quirks", arguments: pairs)
    func bothControllersHaveTwoQuirks(pair: Pair) {
        let scenario = QuirkScenario(phone: pair.leavesNoWay ? [] : pair.quirks, sensor: pair.quirks)
        #expect(scenario.visits(2), "\(scenario.story)")
    }

    @Test("a controller that leaves no way is not tried for ever", arguments: pairs.filter(\.leavesNoWay))
    func aControllerThatLeavesNoWayIsNotTriedForEver(pair: Pair) {
        let scenario = QuirkScenario(phone: pair.quirks)
        #expect(!scenario.visits(1, within: .seconds(90)))
        // The older commands hang twice, then the newer ones are found to be of no use, and it stays at that.
        #expect(scenario.visitor.seen.states == [.poweredOn, .resetting, .poweredOn, .resetting, .poweredOn])
        #expect(scenario.phone.withSystem { $0.controllerMemory.entries.map(\.fallbacks) } == [[.extendedCommands]])
    }

    @Test("broken firmware ends in an error that names the cause")
    func brokenFirmwareEndsInAnError() {
        let scenario = QuirkScenario(phone: [.degraded])
        #expect(!scenario.visits(1, within: .seconds(5)))
        let failure = scenario.phone.withSystem { $0.lastFailure }
        #expect(failure == .resetTooOften(cause: .hardwareError(0x16)))
        #expect(scenario.visitor.seen.states.contains(.resetting))
        #expect(scenario.phone.quirksShown[.degraded] ?? 0 > 3)
    }
}

extension SimulatedDevice {
    /// Works on the device's system, on the loop.
    func withSystem<T: Sendable>(_ body: @escaping @Sendable (BluetoothSystem) -> T) -> T {
        let parts = parts
        return world.loop.waitFor { body(parts.value.system) }
    }
}
