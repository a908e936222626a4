import EventLoops
import Foundation
import LinkLayer
import Testing

@testable import RadioEnergy

/// Charges, usages, and the accounts that share them.
@Suite struct LedgerTests {
    @Test("charges convert between units, and no value of them traps")
    func charge() {
        #expect(Charge(nanoamperes: 7_100_000, microseconds: 1_000).microcoulombs == 7.1)
        #expect(Charge.milliampereHours(230) == .microampereHours(230_000))
        #expect(Charge.microampereHours(1).microcoulombs == 3_600)
        #expect(Charge.microampereHours(.nan) == .zero && Charge.microampereHours(.infinity) == .zero)
        let most = Charge(nanoamperes: .max, microseconds: .max)
        #expect(most + most > most)
        #expect(Charge.microampereHours(2).scaled(from: .seconds(1_800), to: .seconds(3_600)) == .microampereHours(4))
        #expect(Charge.microampereHours(2).scaled(from: .zero, to: .seconds(1)) == .zero)
    }

    @Test(
        "charges print in microampere hours with three digits",
        arguments: [
            (0.0123, "0.0123 µAh"), (1.234, "1.23 µAh"), (12.34, "12.3 µAh"), (1_234, "1.23 mAh"), (0, "0.0 µAh"),
        ]
    )
    func words(value: Double, text: String) {
        #expect(Charge.microampereHours(value).description == text)
    }

    /// A usage of random amounts, some of them odd.
    private func usage(_ random: RandomSource) -> RadioUsage {
        var usage = RadioUsage()
        usage.transmit(Int64(random.below(100_000)), on: .le1M, dBm: 0, frames: 3)
        usage.transmit(Int64(random.below(100_000)), on: .codedS8, dBm: 8)
        usage.listen(Int64(random.below(1_000_000)), for: .le2M, starts: 7)
        usage.wake(5, idle: Int64(random.below(10_000)))
        return usage
    }

    @Test("the parts of a usage add up to it, and so do their charges", arguments: 1...20)
    func parts(count: Int) {
        let whole = usage(RandomSource(seed: UInt64(count)))
        let parts = whole.split(among: count)
        #expect(parts.count == count && parts.reduce(RadioUsage(), +) == whole)
        for profile in RadioProfile.all {
            #expect(parts.reduce(.zero) { $0 + profile.charge(of: $1) } == profile.charge(of: whole))
        }
    }

    @Test("a ledger has all that was entered, with more accounts than it holds too")
    func bounds() {
        let random = RandomSource(seed: 1)
        var (ledger, total) = (EnergyLedger(), RadioUsage())
        for number in 0..<5_000 {
            let entry = usage(random)
            total += entry
            let app = "app\(number % 3)"
            ledger.enter(entry, sharedBy: [.init(app: app, use: .link(UUID())), .init(app: "b", use: .scanning)])
        }
        ledger.enter(RadioUsage(), sharedBy: [])
        #expect(ledger.total == total)
        #expect(ledger.usages.count <= EnergyLedger.maximumAccounts)
        let report = EnergyReport(of: ledger, in: .seconds(60), .nrf52832)
        #expect(report.usage == total)
        #expect(report.apps == ["app0", "app1", "app2", "b"])
        #expect(report.total == RadioProfile.nrf52832.charge(of: total) + report.sleep)
    }

    @Test("what nobody used belongs to the system")
    func system() {
        var ledger = EnergyLedger()
        ledger.enter(usage(RandomSource(seed: 1)), sharedBy: [])
        let report = EnergyReport(of: ledger, in: .seconds(1), .nrf52832)
        #expect(report.apps.isEmpty && report.charge(of: nil) + report.sleep == report.total)
        #expect(report.items.map(\.account) == [EnergyAccount(app: nil, use: .other)])
    }

    @Test("a battery lasts as long as the average current allows")
    func battery() {
        var (ledger, usage) = (EnergyLedger(), RadioUsage())
        usage.listen(1_000_000, for: .le1M)
        ledger.enter(usage, sharedBy: [.init(app: "a", use: .scanning)])
        // 6.5 mA in one second of 100, no event, and 1.5 µA of sleep: 66.5 µA.
        let report = EnergyReport(of: ledger, in: .seconds(100), .nrf52832)
        #expect(abs(report.averageMicroamperes - 66.5) < 0.001)
        #expect(abs(report.days(on: .milliampereHours(230)) - 230_000 / 66.5 / 24) < 0.01)
        #expect(EnergyReport(of: EnergyLedger(), in: .zero, .nrf52832).days(on: .milliampereHours(230)) == .infinity)
    }
}
