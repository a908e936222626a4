import EventLoops
import Foundation

/// Whoever has units of processes in hand: the user's systemd.
package protocol UnitManager: AnyObject {
    /// Does something to a unit, or to all that match a pattern.
    ///
    /// - Parameter completion: Called on the loop, once, with whether it is done.
    func perform(_ verb: UnitVerb, on unit: String, completion: @escaping (_ isDone: Bool) -> Void)
}

/// The systemd of the user, asked by its tool. Lives on the loop.
package final class UserUnits: UnitManager {
    /// How long systemd has; freezing waits for all processes of a unit.
    static let patience = Duration.seconds(5)

    private let loop: any EventLoop
    private let program: String

    /// - Parameter program: The path of `systemctl`.
    package init(loop: any EventLoop, program: String = "/usr/bin/systemctl") {
        self.loop = loop
        self.program = program
    }

    package func perform(_ verb: UnitVerb, on unit: String, completion: @escaping (_ isDone: Bool) -> Void) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["--user", "--quiet", verb.rawValue, "--", unit]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let done = LoopBound(completion, loop: loop)
        process.terminationHandler = { ended in
            let isDone = ended.terminationReason == .exit && ended.terminationStatus == 0
            done.loop.submit { done.value(isDone) }
        }
        do {
            try process.runUnblocked()
        } catch {
            return loop.execute { completion(false) }
        }
        // One that has ended is not there any more to be ended.
        _ = loop.schedule(after: Self.patience) { if process.isRunning { process.terminate() } }
    }
}
