import CoreBluetooth
import EventLoops
import Foundation
import HCI
import HCIHost
import LinkLayer
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Two devices find each other, pair, and meet again, whatever the quirks of their controllers.
@Suite struct QuirkTests {
    /// Two quirks of one controller.
    struct Pair: Hashable, Sendable, CustomTestStringConvertible {
        let quirks: Set<ControllerQuirk>
        var testDescription: String { quirks.map(\.rawValue).sorted().joined(separator: " and ") }

        /// Whether a phone with such a controller cannot reach its peers.
        var leavesNoWay: Bool { QuirkTests.hopeless[quirks] != nil }
    }

    /// All pairs of quirks.
    static let pairs: [Pair] = {
        let all = ControllerQuirk.allCases
        return all.indices.flatMap { first in all[(first + 1)...].map { Pair(quirks: [all[first], $0]) } }
    }()

    /// The only pairs with which a phone cannot find its peers or connect to them, with the reason. As a peripheral
    /// even such a controller works.
    static let hopeless: [Set<ControllerQuirk>: String] = [
        [.legacyScanHangs, .extendedScanSilent]: "version 4.0's scan hangs, and version 5.0's hears nobody",
        [.legacyScanHangs, .extendedScanRefused]: "version 4.0's scan hangs, and version 5.0's is refused",
        [.legacyScanHangs, .claimedCommandsRefused]:
            "version 4.0's scan hangs, and version 5.0's connecting is refused; between the two lies a reset, which ends all links",
    ]

    /// Quirks that show in every encounter, by the device on which they show. The others depend on something that a
    /// host has to request.
    static let visibleAtPhone: Set<ControllerQuirk> = [
        .dataBeforeEncryption, .extendedScanSilent, .legacyScanHangs, .claimedCommandsRefused, .extendedScanRefused,
        .statesLie, .reservedPHYBits, .duplicatesHidden, .shortReplies, .debugTextAsData, .badBuffers, .degraded,
        .versionRepeated, .initiating2MRefused, .dataLengthNeverStarted, .connectionsFail,
    ]
    /// See ``visibleAtPhone``.
    static let visibleAtSensor: Set<ControllerQuirk> = [
        .dataBeforeEncryption, .setEndBeforeConnection, .shortReplies, .debugTextAsData,
        .badBuffers, .degraded, .versionRepeated, .dataLengthNeverStarted,
    ]

    @Test("two devices meet twice though the phone's controller has a quirk", arguments: ControllerQuirk.allCases)
    func thePhonesControllerHasAQuirk(quirk: ControllerQuirk) {
        let scenario = QuirkScenario(phone: [quirk])
        #expect(scenario.visits(2), "\(scenario.story)")
        if Self.visibleAtPhone.contains(quirk) { #expect(scenario.phone.quirksShown[quirk] != nil) }
    }

    @Test("two devices meet twice though the sensor's controller has a quirk", arguments: ControllerQuirk.allCases)
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

    @Test("every pair is tested except those listed, each with its reason")
    func noPairIsLeftOut() {
        let count = ControllerQuirk.allCases.count
        #expect(Set(Self.pairs).count == count * (count - 1) / 2)
        #expect(Self.hopeless.count == 3)
        #expect(Self.pairs.count(where: \.leavesNoWay) == 3)
        #expect(Self.hopeless.values.allSatisfy { !$0.isEmpty })
    }

    // MARK: Unusable controllers

    /// Runs a scenario with a controller that cannot reach its peers, and returns its commands and messages.
    private func lives(_ pair: Pair) -> (QuirkScenario, commands: [Opcode], sentences: [String]) {
        let (log, sentences) = (OctetLog(), Sentences())
        let scenario = QuirkScenario(phone: pair.quirks, phoneCapture: log)
        _ = scenario.phone.withSystem { system in
            system.observers.add([.trouble]) { observation in
                if case .trouble(let words, _) = observation.content { sentences.add(words) }
            }
        }
        #expect(!scenario.visits(1, within: .seconds(60)))
        return (scenario, log.commands, sentences.all.map(\.words))
    }

    @Test(
        "an unusable controller is not retried for ever, apps and the log get the refusal, and the radio stays on",
        arguments: pairs.filter(\.leavesNoWay)
    )
    func aControllerThatLeavesNoWayIsNotTriedForEver(pair: Pair) {
        let (scenario, commands, sentences) = lives(pair)
        let (errors, states) = (scenario.visitor.seen.errors, scenario.visitor.seen.states)
        // The older commands hang twice, then the newer ones turn out to be useless, and the fallback stays.
        #expect(states == [.poweredOn, .resetting, .poweredOn, .resetting, .poweredOn])
        #expect(scenario.phone.withSystem { $0.controllers.memory.entries.map(\.fallbacks) } == [[.extendedCommands]])
        #expect(commands.count { $0 == Reset.opcode } == 3)
        #expect(commands.count { $0 == LESetScanEnable.opcode } == ControllerMemory.hangsBeforeFallback)
        #expect(scenario.phone.withSystem { $0.controllers.state == .poweredOn })
        if pair.quirks.contains(.claimedCommandsRefused) {
            // Each attempt of an app is an attempt of the controller, and ends with an error.
            #expect(!errors.isEmpty)
            #expect(errors.allSatisfy { $0.hasPrefix("connecting: ") && $0.contains("CBError") })
            #expect(errors.count == commands.count { $0 == LEExtendedCreateConnection.opcode }, "\(errors.first ?? "")")
        } else {
            // An app's scan cannot end with an error. The app simply discovers nothing.
            let refused = sentences.filter { $0.contains("the controller refuses LE Set Extended Scan Parameters") }
            let isRefused = pair.quirks.contains(.extendedScanRefused)
            #expect(refused.count == (isRefused ? 1 : 0), "\(sentences)")
            #expect(errors.isEmpty && commands.count < 150, "\(commands.count)")
        }
    }

    // MARK: Broken firmware

    @Test("broken firmware ends in an error that names the cause, and advice to the user")
    func brokenFirmwareEndsInAnError() {
        let scenario = QuirkScenario(phone: [.degraded])
        #expect(scenario.untilAdvised(within: .seconds(5)))
        let failure = scenario.phone.withSystem { $0.controllers.lastFailure }
        #expect(failure == .resetTooOften(cause: .hardwareError(0x16)))
        #expect(scenario.visitor.seen.states.contains(.resetting))
        #expect(scenario.phone.quirksShown[.degraded] ?? 0 > 3)
        #expect(scenario.advice.map(\.device) == ["Phone"])
        #expect(scenario.advice.allSatisfy { $0.words.contains("power the controller off") })
        // The user does not react: the state stays, and retries become ever rarer.
        let shown = scenario.phone.quirksShown[.degraded] ?? 0
        scenario.world.run(for: .seconds(150))
        #expect(scenario.visitor.seen.visits == 0)
        #expect(scenario.visitor.seen.states.last == .unsupported)
        let more = (scenario.phone.quirksShown[.degraded] ?? 0) - shown
        #expect((10...60).contains(more), "\(more)")
    }
}
