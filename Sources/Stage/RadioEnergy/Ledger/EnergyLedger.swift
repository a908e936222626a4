import Foundation

/// The usage of a radio by account. Nothing is lost or counted twice: the accounts add up to what was entered.
struct EnergyLedger: Sendable {
    /// The maximum number of accounts. What would need another one counts as ``EnergyUse/other`` of its app, and in the
    /// end of the system.
    static let maximumAccounts = 2_048

    private(set) var usages: [EnergyAccount: RadioUsage] = [:]

    /// The sum of all accounts.
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
