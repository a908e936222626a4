import EventLoops
import Foundation

/// What an app in the central role has come to, whichever process of it that was.
final class CentralMemory {
    /// A value that was sent while the app believed itself subscribed.
    struct Due {
        let number: Int
        let since: Instant
    }

    /// To whose values it believes itself subscribed.
    private(set) var subscriptions: Set<WorldName> = []
    private var dues: [WorldName: [Due]] = [:]
    private var lastHeard: [WorldName: Int] = [:]
    /// Who was connected last for whose service.
    var peers: [WorldName: UUID] = [:]

    func subscribed(to target: WorldName) { subscriptions.insert(target) }

    /// The app knows that nothing comes any more.
    func lost(_ target: WorldName) {
        subscriptions.remove(target)
        dues[target] = nil
    }

    func lostAll() { (subscriptions, dues) = ([], [:]) }

    /// Something was sent.
    func expect(_ number: Int, of target: WorldName, now: Instant) {
        if subscriptions.contains(target) { dues[target, default: []].append(Due(number: number, since: now)) }
    }

    /// A value has come; what is wrong with it, in words.
    func heard(_ number: Int, of target: WorldName, sent: Int) -> String? {
        defer {
            lastHeard[target] = number
            dues[target]?.removeAll { $0.number <= number }
        }
        let before = lastHeard[target] ?? 0
        if number <= before { return "value \(number) of \(target) after \(before)" }
        if number > sent { return "value \(number) of \(target), who sent \(sent)" }
        let skipped = (dues[target] ?? []).filter { $0.number < number }
        return skipped.isEmpty ? nil : "values \(skipped.map(\.number)) of \(target) were lost in silence"
    }

    /// What has not come in time to an app that has been awake since `awake`.
    func overdue(now: Instant, awake: Instant, patience: Duration = RequestLedger.patience) -> [String] {
        dues.sorted { $0.key < $1.key }.flatMap { target, dues in
            dues.filter { now - max($0.since, awake) >= patience }.map {
                "value \($0.number) of \(target) never came, and nothing was said"
            }
        }
    }
}
