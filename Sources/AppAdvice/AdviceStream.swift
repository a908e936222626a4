import BluetoothService
import CallSites
import EventLoops
import ServiceMessages

/// The advisor of one stream of a tool.
package final class AdviceStream: AdviceSource {
    private var advisor = Advisor()
    private let cost: (Advice) -> AdviceCost?

    /// Creates an advisor that has seen nothing.
    ///
    /// - Parameter cost: Returns what the cause of an advice has cost; nil if that is not known.
    package init(cost: @escaping (Advice) -> AdviceCost? = { _ in nil }) { self.cost = cost }

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
            status.cost = cost(advice)?.status
            return status
        }
    }
}
