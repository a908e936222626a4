import Foundation
import ServiceMessages
import Synchronization
import Testing
import XCTest

/// A test case of XCTest in which each test has a simulated world.
///
/// Failures come with the same explanations as those of tests with ``WorldTrait``. On Linux XCTest has no attachments:
/// if the environment variable `HARALD_ATTACHMENTS` names a directory, the captures and the story of a failed test are
/// written there.
open class WorldTestCase: XCTestCase {
    /// The environment variable with the directory for the files of failed tests.
    public static let attachmentsVariable = "HARALD_ATTACHMENTS"

    /// The issues that the world has reported, until XCTest receives them.
    private let reported = ReportedIssues()
    /// See ``FailureReport/comments(after:)``.
    private var shown: Int?
    private var isMade = false
    /// Whether Core Bluetooth was used outside of all apps. The story of the world has not got it yet.
    private let hasOutsiders = Flag()

    /// The seed of the world, unless `HARALD_SEED` is set. A subclass may override it; by default it is 1.
    open var seed: UInt64 { WorldSeed.standard }

    /// The consequence of misuse of the API by apps. A subclass may override it; by default the test fails.
    open var misuse: WorldTrait.MisuseRule { .fails }

    /// The time that clocks and timers in the code of apps follow. A subclass may override it; by default the world's.
    open var appTime: WorldTrait.AppTime { .world }

    /// The world of the test, which is made when it is first used.
    public private(set) lazy var world: TestWorld = makeWorld()

    private func makeWorld() -> TestWorld {
        isMade = true
        let seed = WorldSeed.chosen(seed).seed
        let filter = name.replacing(".", with: "/")
        let test = String(reflecting: type(of: self)) + "/" + (name.split(separator: ".").last ?? "")
        return TestWorld(seed: seed, name: name, appTime, keepsCaptures: true, rerun: [test], filter: filter) {
            [reported] in reported.add($0)
        }
    }

    /// Runs the test, and ends its world. Called by XCTest.
    override open func invokeTest() {
        ServiceLocator.$onOutsider.withValue({ [hasOutsiders] in _ = hasOutsiders.set() }) { super.invokeTest() }
        guard isMade else { return }
        world.checkHere(misuse, at: nil)
        for issue in reported.all {
            recordFailure(
                withDescription: issue.text,
                inFile: issue.place?.filePath ?? "\(type(of: self))",
                atLine: issue.place?.line ?? 0,
                expected: true
            )
        }
        if shown != nil || !world.filesOfOthers.isEmpty { writeFiles() }
        world.end()
    }

    /// Records a failure with its explanation. Called by XCTest.
    override open func recordFailure(
        withDescription description: String,
        inFile filePath: String,
        atLine lineNumber: Int,
        expected: Bool
    ) {
        super.recordFailure(
            withDescription: isMade ? explained(description) : description,
            inFile: filePath,
            atLine: lineNumber,
            expected: expected
        )
    }

    func explained(_ description: String) -> String {
        if hasOutsiders.clear() { world.story.noteOutsider() }
        let comments =
            world.explanation(of: description)?.comments
            ?? FailureReport(world: world).comments(after: &shown, to: description)
        return ([description] + comments).joined(separator: "\n")
    }

    private func writeFiles() {
        guard let path = ProcessInfo.processInfo.environment[Self.attachmentsVariable], !path.isEmpty else { return }
        do {
            let own = shown == nil ? [] : FailureReport(world: world).files
            try WorldFile.write(own + world.filesOfOthers, to: URL(filePath: path, directoryHint: .isDirectory))
        } catch {
            super.recordFailure(
                withDescription: "the files of the failed test were not written to \(path): \(error)",
                inFile: "\(type(of: self))",
                atLine: 0,
                expected: false
            )
        }
    }
}

/// Issues that wait for the end of a test.
private final class ReportedIssues: Sendable {
    private let issues = Mutex<[WorldIssue]>([])
    var all: [WorldIssue] { issues.withLock { $0 } }
    func add(_ issue: WorldIssue) { issues.withLock { $0.append(issue) } }
}
