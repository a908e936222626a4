/// A program to start, with everything that it is given.
package struct Program: Hashable, Sendable {
    /// Where its standard output and error go.
    package enum Output: Hashable, Sendable {
        /// To those of this process.
        case inherited
        /// Nowhere.
        case discarded
    }

    /// The whole path of its file.
    package var path: String
    /// What follows the path on its command line.
    package var arguments: [String]
    /// Its whole environment.
    package var environment: [String: String]
    package var output: Output

    package init(
        path: String,
        arguments: [String],
        environment: [String: String],
        output: Output = .inherited
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.output = output
    }

    /// Variables by which a service manager addresses one process (systemd.exec(5), "Environment Variables Set or Propagated by the Service
    /// Manager"). A child that found them would notify the watchdog, take the listening socket or read the credentials of the service.
    private static let variablesOfService: Set<String> = [
        "CACHE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "FDSTORE", "INVOCATION_ID",
        "LISTEN_FDNAMES",
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LOGS_DIRECTORY", "MAINPID", "MANAGERPID", "MANAGERPIDFDID",
        "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "PIDFILE", "REMOTE_ADDR", "REMOTE_PORT",
        "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "SYSTEMD_EXEC_PID", "TRIGGER_PATH", "TRIGGER_UNIT", "WATCHDOG_PID",
        "WATCHDOG_USEC",
    ]

    /// What a child may have of the environment of this process. `JOURNAL_STREAM` names the stream behind standard error, so it goes to a
    /// child that inherits that, and to no other.
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
    /// The kernel did not tell: the error number of waitid(2).
    case unknown(code: Int32)

    /// Whether the program has done what it was started for.
    package var isSuccess: Bool { self == .exited(status: 0) }

    package var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .killed(let signal): "signal \(signal)"
        case .unknown(let code): "unknown end, error \(code)"
        }
    }
}

/// A program that was started and has not been reported to have ended.
package struct StartedProgram {
    /// The number of its process.
    package var process: Int32
    /// Sends it a signal, and no process that gets its number later.
    package var signal: (Int32) -> Void

    package init(process: Int32, signal: @escaping (Int32) -> Void) {
        self.process = process
        self.signal = signal
    }
}

/// What becomes of a program: `notStarted` alone, or `started` and then `ended`.
package enum ProgramEvent {
    case started(StartedProgram)
    /// The operating system refused, with this error number.
    case notStarted(code: Int32)
    case ended(ProgramEnd)
}

/// Starts programs as children of this process. Lives on the loop.
package protocol ProgramLauncher: AnyObject {
    /// Starts a program.
    ///
    /// - Parameter report: Called on the loop, never inside this call.
    func start(_ program: Program, _ report: @escaping (ProgramEvent) -> Void)
}
