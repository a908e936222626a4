import BluetoothTypes
import EventLoops
import HCIHost
import Logging
import ServiceMessages

/// Writes important observations to the service's log. Used on the loop only.
final class LogObserver {
    static let kinds: Observation.Kinds = [
        .state, .managers, .notices, .misuse, .trouble, .host, .privacy, .security, .access,
    ]

    /// The number of troubles remembered so as not to log them again within ``repeatInterval`` (AB-G05). The status
    /// counts repetitions (``TroubleList``).
    static let rememberedTroubles = 64
    static let repeatInterval = Duration.seconds(60)

    private let logger: Logger
    private var misuse = LogBudget<AppIdentity>()
    private var troubles = RecencyTable<String, Instant>(limit: LogObserver.rememberedTroubles)

    init(logger: Logger) {
        self.logger = logger
    }

    func write(_ observation: Observation) {
        switch observation.content {
        case .stateChanged(let state): logger.info("Bluetooth is \(state.word)")
        case .controllerFailed(let error): logger.error("Bluetooth is unsupported: \(error)")
        case .recovery(let report): logger.log(level: report.level, "\(report)")
        case .eventsLost(let count):
            let app = observation.subject.app?.name ?? "an app"
            logger.warning("\(app) lost \(count) events because too many were waiting")
        case .appMoved(let phase): logger.info("\(observation.subject.app?.name ?? "an app") is \(phase.words)")
        case .appLaunched: logger.info("\(observation.subject.app?.name ?? "an app") was launched to receive an event")
        case .noticed(let notice): logger.log(level: max(notice.weight.level, .notice), "\(notice)")
        case .misused(let text, isToldToApp: false): log(misuse: text, by: observation)
        case .trouble(let text, let weight): log(trouble: text, weight, at: observation.time)
        case .below(let event): logger.write(event)
        case .misused, .managerOpened, .managerClosed, .liveActivity, .requested, .asked, .delivered, .linkMade,
            .linkEnded, .secured, .parametersUpdated, .practiced:
            break
        }
    }

    /// Logs a trouble unless it was logged recently, since an app can cause the same one with every request.
    private func log(trouble text: String, _ weight: EventWeight, at now: Instant) {
        if let last = troubles[text], now - last < Self.repeatInterval { return }
        troubles.set(now, for: text)
        logger.log(level: weight.level, "\(text)")
    }

    private func log(misuse text: String, by observation: Observation) {
        let app = observation.subject.app ?? AppIdentity(name: "an app")
        switch misuse.verdict(on: app, at: observation.time) {
        case .log: logger.warning("API misuse by \(app.name.quotedName): \(text)")
        case .logAsLast:
            logger.warning(
                "API misuse by \(app.name.quotedName): \(text); further misuse by it is not logged for up to a minute"
            )
        case .drop: break
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
