/// A program to start, with its arguments and environment.
package struct Program: Hashable, Sendable {
    /// The destination of standard output and standard error.
    package enum Output: Hashable, Sendable {
        case inherited
        /// The null device, which discards it.
        case discarded
    }

    /// The absolute path of its file.
    package var path: String
    /// The command-line arguments after the path.
    package var arguments: [String]
    /// The complete environment; nothing is inherited.
    package var environment: [String: String]
    package var output = Output.inherited

    /// The variables with which a service manager addresses a single process (systemd.exec(5), "Environment Variables
    /// Set or Propagated by the Service Manager"). A child that inherited them would notify the watchdog, take over the
    /// listening socket, or read the credentials of the service.
    private static let variablesOfService: Set<String> = [
        "CACHE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "FDSTORE", "INVOCATION_ID",
        "LISTEN_FDNAMES",
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LOGS_DIRECTORY", "MAINPID", "MANAGERPID", "MANAGERPIDFDID",
        "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "PIDFILE", "REMOTE_ADDR", "REMOTE_PORT",
        "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "SYSTEMD_EXEC_PID", "TRIGGER_PATH", "TRIGGER_UNIT", "WATCHDOG_PID",
        "WATCHDOG_USEC",
    ]

    /// The environment of this process without the variables that a child must not inherit. `JOURNAL_STREAM` describes
    /// the stream behind standard error, so it is only passed to a child that inherits that stream.
    static func environment(from own: [String: String], output: Output) -> [String: String] {
        own.filter { name, _ in
            !variablesOfService.contains(name) && (output == .inherited || name != "JOURNAL_STREAM")
        }
    }
}

/// How a program ended.
package enum ProgramEnd: Hashable, Sendable, CustomStringConvertible {
    case exited(status: Int32)
    case killed(signal: Int32)
    /// The kernel did not report how it ended; `code` is the error number of waitid(2).
    case unknown(code: Int32)

    package var isSuccess: Bool { self == .exited(status: 0) }

    package var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .killed(let signal): "signal \(signal)"
        case .unknown(let code): "unknown exit status, error \(code)"
        }
    }
}

/// A program that was started and whose end has not been reported.
package struct StartedProgram {
    package var process: Int32
    /// Sends a signal to the process. No later process with the same number can receive it.
    package var signal: (Int32) -> Void
}

/// An event of a program: either `notStarted` alone, or `started` followed by `ended`.
package enum ProgramEvent {
    case started(StartedProgram)
    /// The operating system could not start it, with this error number.
    case notStarted(code: Int32)
    case ended(ProgramEnd)
}

/// Starts programs as children of this process. Used on the event loop.
package protocol ProgramLauncher: AnyObject {
    /// Starts a program.
    ///
    /// - Parameter report: Called on the event loop, never from within this call.
    func start(_ program: Program, _ report: @escaping (ProgramEvent) -> Void)
}
