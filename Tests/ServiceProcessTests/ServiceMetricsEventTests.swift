import EventLoops
import GAP
import HCIHost
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// Which metric each event of a system belongs to.
@Suite struct ServiceMetricsEventTests {
    /// The metrics that are not 0, after events.
    private func counted(_ contents: [(Observation.Kinds, Observation.Content)]) -> [String: String] {
        let world = ClientWorld()
        let text = MetricsText()
        let metrics = world.phone.withSystem { [loop = world.world.loop] system in
            LoopBound(ServiceMetrics(of: system, factory: text), loop: loop)
        }
        world.with { system in
            for (kind, content) in contents { system.observers.report(kind, content) }
        }
        withExtendedLifetime(metrics) {}
        let lines = text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
        #expect(lines.count == 13)
        return Dictionary(lines.map { (String($0[0]), String($0[1])) }) { $1 }.filter { $0.value != "0" }
    }

    @Test("each event counts where it belongs, and nowhere else")
    func events() {
        let end = AccessLink.End.replaced.reason
        let rows: [(Observation.Kinds, Observation.Content, [String: String])] = [
            (.messages, .delivered(.stateChanged(.poweredOn)), ["harald_events_total": "1"]),
            (.messages, .requested(.central(.stopScan)), ["harald_requests_total": "1"]),
            (.messages, .asked(.system), ["harald_requests_total": "1"]),
            (.managers, .eventsLost(7), ["harald_events_lost_total": "7"]),
            (.managers, .appLaunched(RestoreIdentifiers()), ["harald_app_launches_total": "1"]),
            (.managers, .managerOpened(.central), ["harald_managers": "1"]),
            (.managers, .managerClosed, ["harald_managers": "-1"]),
            (.managers, .appMoved(.suspended), [:]),
            (.links, .linkMade, ["harald_links": "1", "harald_links_made_total": "1"]),
            (.links, .linkEnded(end), ["harald_links": "-1", "harald_links_ended_total": "1"]),
            (.misuse, .misused("a", isToldToApp: true), ["harald_misuse_total": "1"]),
            (.trouble, .trouble("a", .error), ["harald_trouble_total": "1"]),
            (.notices, .noticed(.poweredOff(app: "a")), ["harald_notices_total": "1"]),
            (.state, .stateChanged(.poweredOff), [:]),
        ]
        for (kind, content, expected) in rows { #expect(counted([(kind, content)]) == expected, "\(content)") }
        #expect(counted([(.links, .linkMade), (.links, .linkMade), (.links, .linkEnded(end))])["harald_links"] == "1")
    }

    @Test("recovery is at the step that was taken last, and at none when it is over")
    func recovery() {
        func step(_ step: RecoveryStep) -> (Observation.Kinds, Observation.Content) {
            (.state, .recovery(.took(step, .noCommandCredits)))
        }
        #expect(
            counted([step(.reset), step(.reopen)])
                == ["harald_recovery_step": "2", "harald_recovery_steps_total": "2"]
        )
        #expect(counted([(.state, .recovery(.skipped(.resetDevice)))]).isEmpty)
        for over in [RecoveryReport.recovered(after: .reset), .left(at: .reset)] {
            #expect(counted([step(.reset), (.state, .recovery(over))]) == ["harald_recovery_steps_total": "1"])
        }
    }
}
