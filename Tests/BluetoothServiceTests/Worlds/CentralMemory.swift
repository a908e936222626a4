import EventLoops
import Foundation

/// The state of an app in the central role, across its processes.
final class CentralMemory {
    /// A value sent while the app considered itself subscribed.
    struct Due {
        let number: Int
        let since: Instant
    }

    /// The apps to whose values it considers itself subscribed.
    private(set) var subscriptions: Set<WorldName> = []
    private var dues: [WorldName: [Due]] = [:]
    private var lastReception: [WorldName: Int] = [:]
    /// The peer that was connected last for each service.
    var peers: [WorldName: UUID] = [:]

    func subscribed(to target: WorldName) { subscriptions.insert(target) }

    /// Ends a subscription of which the app expects no more values.
    func lost(_ target: WorldName) {
        subscriptions.remove(target)
        dues[target] = nil
    }

    func lostAll() { (subscriptions, dues) = ([], [:]) }

    /// Notes that a value was sent.
    func expect(_ number: Int, of target: WorldName, now: Instant) {
        if subscriptions.contains(target) { dues[target, default: []].append(Due(number: number, since: now)) }
    }

    /// Notes a received value, and describes any fault.
    func heard(_ number: Int, of target: WorldName, sent: Int) -> String? {
        defer {
            lastReception[target] = number
            dues[target]?.removeAll { $0.number <= number }
        }
        let before = lastReception[target] ?? 0
        if number <= before { return "value \(number) of \(target) after \(before)" }
        if number > sent { return "value \(number) of \(target), who sent \(sent)" }
        let skipped = (dues[target] ?? []).filter { $0.number < number }
        return skipped.isEmpty ? nil : "values \(skipped.map(\.number)) of \(target) were lost in silence"
    }

    /// The values that did not arrive in time at an app that has been awake since `awake`.
    func overdue(now: Instant, awake: Instant, timeout: Duration = OpenRequests.timeout) -> [String] {
        dues.sorted { $0.key < $1.key }.flatMap { target, dues in
            dues.filter { now - max($0.since, awake) >= timeout }.map {
                "value \($0.number) of \(target) never came, and nothing was said"
            }
        }
    }
}
