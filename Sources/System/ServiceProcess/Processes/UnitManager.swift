import EventLoops
import Foundation

/// Controls units of processes: the user's systemd, or a stand-in for it in tests.
package protocol UnitManager: AnyObject {
    /// Applies a command to a unit, or to all units that match a pattern.
    ///
    /// - Parameter completion: Called once, on the event loop, with whether the command succeeded.
    func perform(_ verb: UnitVerb, on unit: String, completion: @escaping (_ isDone: Bool) -> Void)
}

/// The user's systemd, controlled through `systemctl`. Used on the event loop.
package final class UserUnits: UnitManager {
    /// How long a command may take. Freezing waits for all processes of the unit.
    static let commandTimeout = Duration.seconds(5)

    private let loop: any EventLoop
    private let programs: any ProgramLauncher
    private let path: String

    /// - Parameter path: The path of `systemctl`.
    package init(loop: any EventLoop, programs: any ProgramLauncher, path: String = "/usr/bin/systemctl") {
        self.loop = loop
        self.programs = programs
        self.path = path
    }

    package func perform(_ verb: UnitVerb, on unit: String, completion: @escaping (_ isDone: Bool) -> Void) {
        let program = Program(
            path: path,
            arguments: ["--user", "--quiet", verb.rawValue, "--", unit],
            environment: Program.environment(from: ProcessInfo.processInfo.environment, output: .discarded),
            output: .discarded
        )
        var timer: ScheduledTask?
        programs.start(program) { [loop] event in
            switch event {
            case .started(let started):
                timer = loop.schedule(after: Self.commandTimeout) { started.signal(SIGTERM) }
            case .notStarted: completion(false)
            case .ended(let end):
                if let timer { loop.cancel(timer) }
                completion(end.isSuccess)
            }
        }
    }
}
