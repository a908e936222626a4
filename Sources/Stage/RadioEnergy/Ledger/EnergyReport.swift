import EventLoops
import Foundation

/// The charge that a device's radio used in a time, by app and purpose.
///
/// The charges of the items and ``sleep`` add up to ``total``, to the femtocoulomb.
public struct EnergyReport: Hashable, Sendable {
    /// The use of one account.
    public struct Item: Hashable, Sendable {
        /// The app and the purpose.
        public var account: EnergyAccount
        /// The use of the radio.
        public var usage: RadioUsage
        /// The charge of it.
        public var charge: Charge
    }

    /// The time that the report covers.
    public var elapsed: Duration
    /// The uses, by app, the system's last.
    public var items: [Item]
    /// The charge of the sleep current in this time. It belongs to the device, not to an app.
    public var sleep: Charge
    /// When the report begins, on the system's clock.
    var start = Instant.zero
    /// The name of the profile that the charges follow.
    public var profile: String
    /// Whether the usage was estimated from what the service knows, since the controller is a real one.
    public var isEstimate: Bool
    /// The names of peers, as far as the apps of the device have received them.
    public var names: [UUID: String]

    init(
        of ledger: EnergyLedger,
        in elapsed: Duration,
        _ profile: RadioProfile,
        names: [UUID: String] = [:],
        isEstimate: Bool = false
    ) {
        self.elapsed = elapsed
        items = ledger.usages.sorted { $0.key < $1.key }.map {
            Item(account: $0.key, usage: $0.value, charge: profile.charge(of: $0.value))
        }
        sleep = profile.sleepCharge(for: elapsed)
        (self.profile, self.names, self.isEstimate) = (profile.name, names, isEstimate)
    }

    /// The charge of the device's radio and of its sleep.
    public var total: Charge { items.reduce(sleep) { $0 + $1.charge } }
    /// The use of the radio for all purposes.
    public var usage: RadioUsage { items.reduce(into: RadioUsage()) { $0 += $1.usage } }
    /// The names of the apps that used the radio.
    public var apps: [String] {
        items.compactMap(\.account.app).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Returns the charge of an app; with nil, that of the system for itself.
    ///
    /// - Parameter app: The name of the app.
    public func charge(of app: String?) -> Charge {
        items.reduce(.zero) { $1.account.app == app ? $0 + $1.charge : $0 }
    }

    /// Returns the charge of one purpose of an app.
    ///
    /// - Parameters:
    ///   - app: The name of the app; nil for the system.
    ///   - use: The purpose.
    public func charge(of app: String?, for use: EnergyUse) -> Charge {
        items.reduce(.zero) { $1.account == EnergyAccount(app: app, use: use) ? $0 + $1.charge : $0 }
    }

    /// Returns what the radio did for an app; with nil, for the system itself.
    ///
    /// - Parameter app: The name of the app.
    public func usage(of app: String?) -> RadioUsage {
        items.reduce(into: RadioUsage()) { if $1.account.app == app { $0 += $1.usage } }
    }

    /// The average current, in microamperes. Zero if no time has passed.
    public var averageMicroamperes: Double { total.scaled(from: elapsed, to: .seconds(3_600)).microampereHours }

    /// Returns how many days a battery lasts at this rate, without its self-discharge.
    ///
    /// - Parameter battery: The capacity, for example `.milliampereHours(230)` of a CR2032.
    /// - Returns: The number of days; infinity if nothing was used.
    public func days(on battery: Charge) -> Double {
        let day = total.scaled(from: elapsed, to: .seconds(86_400))
        return day > .zero ? Double(battery.femtocoulombs) / Double(day.femtocoulombs) : .infinity
    }
}

extension EnergyReport: CustomStringConvertible {
    /// The report as lines: the total, then each app with its purposes, the largest charge first.
    public var description: String {
        let mark = isEstimate ? ", estimated" : ""
        let hour = total.scaled(from: elapsed, to: .seconds(3_600))
        var lines = ["\(total) in \(Self.text(elapsed)) (\(hour) per hour, \(profile)\(mark))"]
        for app in apps.sorted(by: { charge(of: $0) > charge(of: $1) }) { lines += self.lines(app, app) }
        if items.contains(where: { $0.account.app == nil }) { lines += self.lines(nil, "system") }
        lines.append("  sleep: \(sleep)")
        return lines.joined(separator: "\n")
    }

    private func lines(_ app: String?, _ title: String) -> [String] {
        let uses = items.filter { $0.account.app == app }.sorted { $0.charge > $1.charge }
        return ["  \(title): \(charge(of: app))"]
            + uses.map { item in
                "    \(item.account.use.words { names[$0] ?? String($0.uuidString.prefix(8)) }): \(item.charge)"
            }
    }

    private static func text(_ time: Duration) -> String {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rounded = (seconds * 1_000).rounded() / 1_000
        return Int64(exactly: rounded).map { "\($0) s" } ?? "\(rounded) s"
    }
}

/// The usage of a radio by account. Nothing is lost or counted twice: the accounts add up to what was entered.
struct EnergyLedger: Sendable {
    /// The maximum number of accounts. What would need another one counts as ``EnergyUse/other`` of its app, and in the
    /// end of the system.
    static let maximumAccounts = 2_048

    private(set) var usages: [EnergyAccount: RadioUsage] = [:]

    var total: RadioUsage { usages.values.reduce(into: RadioUsage()) { $0 += $1 } }

    /// Enters a usage, which is shared equally by accounts. What cannot be divided goes to the first ones in their
    /// order.
    mutating func enter(_ usage: RadioUsage, sharedBy accounts: Set<EnergyAccount>) {
        guard !usage.isEmpty else { return }
        let accounts = accounts.isEmpty ? [EnergyAccount(app: nil, use: .other)] : accounts.sorted()
        for (account, part) in zip(accounts, usage.split(among: accounts.count)) { add(part, to: account) }
    }

    private mutating func add(_ usage: RadioUsage, to account: EnergyAccount) {
        let rest = EnergyAccount(app: account.app, use: .other)
        if usages[account] != nil || usages.count < Self.maximumAccounts - 1 {
            usages[account, default: RadioUsage()] += usage
        } else if usages[rest] != nil {
            usages[rest, default: RadioUsage()] += usage
        } else {
            usages[EnergyAccount(app: nil, use: .other), default: RadioUsage()] += usage
        }
    }
}
