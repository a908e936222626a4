import EventLoops
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

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
                timer = loop.schedule(after: Self.patience) { started.signal(SIGTERM) }
            case .notStarted: completion(false)
            case .ended(let end):
                if let timer { loop.cancel(timer) }
                completion(end.isSuccess)
            }
        }
    }
}
