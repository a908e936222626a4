import Accessories
import CoreBluetooth
import Foundation
import TestBasics
import Testing

@testable import BluetoothTesting

/// The reports of failures that apps and devices often cause: each is short, and begins with the cause.
@Suite struct FailureReportTests {
    /// The lines of a report, and those that a reader looks at first.
    private static let (maximum, first) = (40, 5)

    @Test(
        "the report of a common failure has at most 40 lines, and names the cause in the first five",
        arguments: Failure.all
    )
    func aCommonFailure(_ failure: Failure) async throws {
        let issues = Notes<String>()
        let world = TestWorld(seed: 1, name: failure.name, .world, keepsCaptures: false) { issues.add($0.text) }
        await failure.happen(world)
        let issue = try #require(issues.all.first, "nothing fails")
        var shown: Int?
        let comments = FailureReport(world: world).comments(after: &shown, to: issue)
        let texts = ["✘ Test recorded an issue at a place", issue] + comments
        let lines = texts.flatMap { $0.split(separator: "\n") }
        let report = lines.joined(separator: "\n")
        #expect(lines.count <= Self.maximum, "\(report)")
        let beginning = lines.prefix(Self.first).joined(separator: "\n")
        #expect(beginning.contains(try Regex(failure.cause)), "\(report)")
        // To read them all, since the beginning of a report is what matters to people.
        if let directory = ProcessInfo.processInfo.environment["HARALD_REPORTS"] {
            try report.write(toFile: "\(directory)/\(failure.name).txt", atomically: true, encoding: .utf8)
        }
        await withTaskExecutorPreference(world.executor) { world.end() }
    }
}

/// A failure of a test, and what its report has to say.
struct Failure: Sendable, CustomTestStringConvertible {
    let name: String
    /// A regular expression.
    let cause: String
    /// Lets it happen, up to an expectation that is not met.
    let happen: @Sendable (TestWorld) async -> Void

    var testDescription: String { name }

    static let all = devices + restored

    /// What devices, their users and the radio cause.
    private static let devices = [
        Failure(
            name: "slow peer",
            cause:
                #"waited for an answer of "Belt" since 00:00\.\d+, 5\d s.*discover services.*requests late, after 20 s"#
        ) { world in
            let here = FlawedSituation(in: world)
            here.strap.begin(DeviceFault(.slowAnswers, 20), ofApp: "belt")
            await here.open(for: 1)
            await here.expect("location", within: 50)
        },
        Failure(
            name: "no answer",
            cause: #"(waited for an|got no) answer of "Belt" .*discover services.*answers no requests"#
        ) { world in
            let here = FlawedSituation(in: world)
            await here.open(for: 1)
            here.strap.leaveRange()
            await world.run(for: .seconds(60))
            here.strap.returnToRange()
            here.strap.begin(DeviceFault(.noAnswers), ofApp: "belt")
            await here.expect("another location", within: 100)
        },
        Failure(name: "bond lost", cause: #"Phone: "?Belt"? has removed its pairing information"#) { world in
            let here = FlawedSituation(in: world) { FlawedAppBelt(isProtected: true) }
            here.strap.person.behaves(.agrees(lookingAt: [here.phone]))
            here.phone.person.behaves(.agrees(lookingAt: [here.strap]))
            await here.open()
            here.phone.person.behaves(.declines)
            here.strap.begin(DeviceFault(.bondLost), ofApp: "belt")
            here.strap.leaveRange()
            await world.run(for: .seconds(60))
            here.strap.returnToRange()
            await here.measure(75...81)
            await here.expect("2 octets, 81 bpm")
        },
        Failure(name: "out of range", cause: #""Belt" leaves the range of the others at 00:05"#) { world in
            let here = FlawedSituation(in: world)
            await here.open()
            here.strap.leaveRange()
            await here.measure(60...100)
            await here.expect("2 octets, 100 bpm")
        },
        Failure(name: "advertising too long", cause: #"belt advertises more than .*its name is cut to "#) { world in
            let uuids = (1...3).map { CBUUID(string: "0000000\($0)-B5A3-F393-E0A9-E50E24DCCA9E") }
            let here = FlawedSituation(in: world) { FlawedAppBelt(name: "The belt of the left runner", more: uuids) }
            await here.open()
            await here.expect("found The belt of the left runner")
        },
        Failure(name: "wrong UUID", cause: "discovered none of these characteristics: .*2A99") { world in
            let here = FlawedSituation(in: world, .discoversOther)
            await here.open()
            await here.expect("location")
        },
        Failure(
            name: "unencrypted write",
            cause: #"Phone: pairing with "Belt" failed: .*\n.*received an error of "Belt" at .* writing a value: "#
        ) { world in
            let here = FlawedSituation(in: world, .ignoresErrors) { FlawedAppBelt(isProtected: true) }
            await here.open()
            await here.expect("written")
        },
        Failure(
            name: "permission denied",
            cause: "follower has a CBCentralManager that is unauthorized since .* the app may not use Bluetooth"
        ) { world in
            let here = FlawedSituation(in: world, options: DeviceOptions(permission: .denied))
            await here.open()
            await here.expect("connected")
        },
        Failure(name: "MTU refused", cause: #"has an MTU of 23 with "Belt".*20 octets"#) { world in
            let here = FlawedSituation(in: world)
            here.strap.begin(DeviceFault(.mtuRefused), ofApp: "belt")
            await here.open()
            here.belt.send([UInt8](repeating: 61, count: 60))
            await here.expect("60 octets, 61 bpm")
        },
        Failure(name: "pairing timed out", cause: #"Phone: pairing with "?Belt"? failed: "#) { world in
            let here = FlawedSituation(in: world) { FlawedAppBelt(isProtected: true) }
            here.strap.person.behaves(.ignores)
            here.phone.person.behaves(.ignores)
            await here.open()
            await here.expect("location", within: 100)
        },
    ]

    /// What apps do wrong, after the system has launched them again.
    private static let restored = [
        flaw(
            .setsNoDelegate,
            #"has no delegate for the restored CBPeripheral "Belt": \d+ events since .*willRestoreState"#
        ),
        flaw(.releasesManager, "follower released its CBCentralManager at .*: keep the manager in a property"),
        flaw(.releasesPeripheral, #"released the CBPeripheral of "Belt" at .*, which canceled its connection"#),
        flaw(.keepsCharacteristics, "API MISUSE: .*CBCharacteristic.* is no longer part of", leavesRange: true),
        flaw(.discoversNothing, #"connected to "Belt" again,.* made no request since"#, leavesRange: true),
        flaw(.writesWithoutRoom, #"has no room for a response-less write.* \(\d+ times"#),
        flaw(
            .scansForOther,
            #"has scanned for Phone Alert Status \(180E\) since .* advertised were: "Belt" with Heart Rate"#
        ),
        Failure(name: "restored, ignoresErrors", cause: #"received an error of "Belt" at .* writing a value: "#) {
            world in
            let here = FlawedSituation(in: world, .ignoresErrors, isRestored: true)
            await here.open()
            here.strap.answerFault = .error(0x0E)
            here.removeFromMemory()
            await here.measure(75...81)
            await here.expect("written")
        },
        Failure(
            name: "restored, no time-out",
            cause: #"has waited for a connection to "Belt" since 02:\d+.*never times out.*leaves the range"#
        ) { world in
            let here = FlawedSituation(in: world)
            await here.open()
            here.strap.leaveRange()
            await world.run(for: .seconds(115))
            here.removeFromMemory()
            await here.open(for: 20)
            await here.expect("connected")
        },
    ]

    private static func flaw(_ flaw: FlawedApp.Flaw, _ cause: String, leavesRange: Bool = false) -> Failure {
        Failure(name: "restored, \(flaw)", cause: cause) { world in
            let here = FlawedSituation(in: world, flaw, isRestored: true)
            await here.open()
            await here.measure(60...70)
            here.removeFromMemory()
            await here.measure(75...76)
            if leavesRange {
                here.strap.leaveRange()
                await world.run(for: .seconds(60))
                here.strap.returnToRange()
            }
            await here.measure(77...150)
            await here.expect("2 octets, 201 bpm")
        }
    }
}
