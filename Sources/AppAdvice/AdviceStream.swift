import BluetoothService
import CallSites
import EventLoops
import ServiceMessages

/// The advisor of one stream of a tool.
package final class AdviceStream: AdviceSource {
    private var advisor = Advisor()

    package init() {}

    /// See ``BluetoothService/AdviceSource/kinds``.
    package var kinds: Observation.Kinds { Advisor.kinds }

    /// See ``BluetoothService/AdviceSource/accept(_:)``.
    package func accept(_ observation: Observation) { advisor.accept(observation) }

    /// See ``BluetoothService/AdviceSource/takeNews(at:)``.
    package func takeNews(at now: Instant) -> [AdviceStatus] {
        advisor.advance(to: now)
        return advisor.takeChanges().map { app, advice in
            var status = AdviceStatus(
                rule: advice.rule.number,
                hint: advice.isHint,
                app: app,
                time: advice.time,
                found: advice.found,
                instead: advice.instead,
                count: advice.count
            )
            status.manager = advice.manager?.name
            status.peer = advice.peer
            status.place = advice.place?.description
            return status
        }
    }
}
