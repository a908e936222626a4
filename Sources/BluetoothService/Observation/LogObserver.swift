import HCIHost
import Logging

/// Writes to the log of the service what is of interest there.
struct LogObserver {
    static let kinds: Observation.Kinds = [
        .state, .managers, .notices, .misuse, .trouble, .host, .privacy, .security, .access,
    ]

    let logger: Logger

    func take(_ observation: Observation) {
        switch observation.happening {
        case .stateChanged(let state): logger.info("Bluetooth is \(state.name)")
        case .controllerFailed(let error): logger.error("Bluetooth is unsupported: \(error)")
        case .recovery(let report): logger.log(level: report.level, "\(report)")
        case .eventsLost(let count):
            let app = observation.subject.app?.name ?? "an app"
            logger.warning("\(app) was away for too long: it misses \(count) events")
        case .appMoved(let phase): logger.info("\(observation.subject.app?.name ?? "an app") is \(phase)")
        case .appLaunched: logger.info("\(observation.subject.app?.name ?? "an app") is launched to hear of something")
        case .noticed(let notice): logger.notice("\(notice)")
        case .misused(let text, isToldToApp: false): logger.warning("API misuse: \(text)")
        case .trouble(let text, let weight): logger.log(level: weight.level, "\(text)")
        case .below(let happening): logger.write(happening)
        case .misused, .managerOpened, .managerClosed, .requested, .asked, .told, .linkMade, .linkEnded, .secured: break
        }
    }
}

extension RecoveryReport {
    fileprivate var level: Logger.Level {
        switch self {
        case .took(.powerOff, _): .error
        case .took: .warning
        case .skipped, .recovered, .left: .notice
        }
    }
}
