import BluetoothService
import CoreMetrics
import ServiceMessages

/// Reports metrics of a system to the metrics backend of this process (swift-metrics). An observer like the log:
/// metrics that are not collected cost nothing, because no observer is then registered. Used on the event loop of its
/// system.
package final class ServiceMetrics {
    private static let kinds: Observation.Kinds = [.state, .managers, .messages, .links, .notices, .misuse, .trouble]

    private let requests: Counter
    private let events: Counter
    private let lost: Counter
    private let launches: Counter
    private let linksMade: Counter
    private let linksEnded: Counter
    private let links: Gauge
    private let managers: Gauge
    private let misuse: Counter
    private let trouble: Counter
    private let notices: Counter
    private let recoverySteps: Counter
    private let recovery: Gauge
    private var (linkCount, managerCount) = (0, 0)

    /// - Parameter factory: The metrics backend; by default, that of the process.
    package init(of system: BluetoothSystem, factory: any MetricsFactory = MetricsSystem.factory) {
        func counter(_ name: String) -> Counter { Counter(label: "harald_\(name)_total", factory: factory) }
        requests = counter("requests")
        events = counter("events")
        lost = counter("events_lost")
        launches = counter("app_launches")
        linksMade = counter("links_made")
        linksEnded = counter("links_ended")
        misuse = counter("misuse")
        trouble = counter("trouble")
        notices = counter("notices")
        recoverySteps = counter("recovery_steps")
        recovery = Gauge(label: "harald_recovery_step", factory: factory)
        recovery.record(0)
        links = Gauge(label: "harald_links", factory: factory)
        managers = Gauge(label: "harald_managers", factory: factory)
        links.record(0)
        managers.record(0)
        system.observers.add(Self.kinds) { [weak self] in self?.count($0.content) }
    }

    private func count(_ content: Observation.Content) {
        switch content {
        case .requested, .asked: requests.increment()
        case .delivered: events.increment()
        case .eventsLost(let count): lost.increment(by: count)
        case .appLaunched: launches.increment()
        case .linkMade:
            linksMade.increment()
            change(&linkCount, by: 1, links)
        case .linkEnded:
            linksEnded.increment()
            change(&linkCount, by: -1, links)
        case .managerOpened: change(&managerCount, by: 1, managers)
        case .managerClosed: change(&managerCount, by: -1, managers)
        case .misused: misuse.increment()
        case .trouble: trouble.increment()
        case .noticed: notices.increment()
        case .recovery(let report): count(report)
        case .stateChanged, .controllerFailed, .appMoved, .liveActivity, .secured, .parametersUpdated, .practiced,
            .below:
            break
        }
    }

    /// Records the current step of recovery, 0 while no recovery is in progress.
    private func count(_ report: RecoveryReport) {
        switch report {
        case .took(let step, _):
            recoverySteps.increment()
            recovery.record(step.rawValue)
        case .skipped: break
        case .recovered, .left: recovery.record(0)
        }
    }

    private func change(_ count: inout Int, by difference: Int, _ gauge: Gauge) {
        count += difference
        gauge.record(count)
    }
}
