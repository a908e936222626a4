import Accessories
import BluetoothService
import CapturePlayback
import CoreBluetooth
import EventLoops
import Foundation
import HCI
import LinkLayer
import Logging
import RadioEnergy
import ServiceMessages

extension FuzzTarget {
    /// The JSON file with the steps of a test. It may come from anywhere (AB-F01).
    static let steps = FuzzTarget("steps", maximumLength: 8_192, seeds: FileSeeds.steps) { input in
        guard let steps = try? DeviceSteps(json: input.octets) else { return }
        hold((try? DeviceSteps(json: input.octets)) == steps, "the same file has other steps")
        hold(steps.titles.count == steps.steps.count, "a step without a title")
        for step in steps.steps {
            hold(step.limit >= .zero && step.limit <= .seconds(AccessoryLimits.longestInterval), "\(step.limit)")
            if let expectation = step.expectation { hold(!expectation.words.isEmpty, "an expectation without words") }
        }
    }

    /// The JSON file of a radio profile, whose values may be any (AB-F01).
    static let profiles = FuzzTarget("profiles", maximumLength: 8_192, seeds: FileSeeds.profiles) { input in
        guard let profile = try? RadioProfile(json: input.octets) else { return }
        for power in Int8.min...Int8.max {
            let current = profile.transmitCurrent(at: power)
            hold((0...1_000_000_000).contains(current), "\(current) nA at \(power) dBm")
        }
        for modulation in RadioPHY.Modulation.allCases {
            hold(profile.receiveCurrent(for: modulation) >= 0, "a negative current")
        }
        for volts in [0.5, 1.8, 20, 0, -1, .nan, .infinity] {
            let supplied = profile.supplied(at: volts)
            hold(supplied.sleepCharge(for: .seconds(1 << 32)) >= .zero, "a negative charge at \(volts) V")
            hold(supplied.wakeUp >= .zero && !"\(supplied.wakeUp)".isEmpty, "a negative charge at \(volts) V")
        }
    }

    /// A capture that strangers wrote, as the controller of a whole system with an app (AB-F04).
    static let playedSystem = FuzzTarget("played-system", maximumLength: 8_192, seeds: CaptureSeeds.btsnoop()) {
        input in
        guard let capture = try? CapturedController(octets: input.octets) else { return }
        PlayedSystem(capture).run()
    }
}

/// Files to start from.
private enum FileSeeds {
    static var profiles: [[UInt8]] { RadioProfile.files.map { Array($0.json.utf8) } }

    static var steps: [[UInt8]] {
        let head = #"{"format":1,"name":"a","device":"Pulse","seed":7,"steps":["#
        let all = [
            #"{"connect":true,"within":5}"#, #"{"disconnect":true}"#, #"{"disconnection":true,"within":1}"#,
            #"{"pair":true}"#, #"{"services":["180D","battery service"]}"#,
            #"{"read":"2A38","expect":{"equals":"01","length":1}}"#,
            #"{"write":"2A39","value":{"hex":"01"},"response":true,"expect":{"attError":128}}"#,
            #"{"subscribe":"heart rate"}"#, #"{"unsubscribe":"2A37"}"#,
            #"{"notification":"2A37","expect":{"number":{"format":"uint8","at":1,"from":0,"to":255}}}"#,
            #"{"silence":"2A37","for":0.5}"#, #"{"wait":2}"#, #"{"set":"2A38","value":{"text":"a"}}"#,
            #"{"fault":"appKilled"}"#, #"{"endFault":"appKilled"}"#,
            #"{"name":"b","read":"x","expect":{"error":true}}"#,
        ]
        return all.map { Array((head + $0 + "]}").utf8) } + [Array((head + all.joined(separator: ",") + "]}").utf8)]
    }
}

/// A system whose controllers play a capture, and an app that scans and connects.
private final class PlayedSystem {
    /// The tasks of a run. A session that goes well has a few thousand.
    private static let maximumTasks = 200_000

    private let loop = VirtualEventLoop()
    private let player: CapturePlayer
    private let system: BluetoothSystem

    init(_ capture: CapturedController) {
        let player = CapturePlayer(capture, loop: loop)
        self.player = player
        system = BluetoothSystem(
            controllers: ControllerSource { player.open(place: "fuzzing") },
            loop: loop,
            random: RandomSource(seed: 1),
            configuration: SystemConfiguration(),
            logger: Logger(label: "fuzzing") { _ in SwiftLogNoOpLogHandler() }
        )
        system.start()
    }

    func run() {
        let app = ServiceLocator.$current.withValue(system.openApp(AppIdentity(name: "app"))) { CentralApp() }
        var tasks = 0
        _ = loop.run(until: loop.now + .seconds(300)) {
            tasks += 1
            hold(tasks <= Self.maximumTasks, "\(tasks) tasks in one session")
            return app.isThrough
        }
        system.stop()
        loop.run(for: .seconds(60))
        hold(player.departures.count <= 10_000, "more departures than the limit")
        withExtendedLifetime(app) {}
    }
}
