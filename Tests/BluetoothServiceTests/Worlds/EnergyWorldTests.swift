import EventLoops
import Foundation
import LinkLayer
import RadioEnergy
import Testing

/// The energy ledgers of the devices of random worlds, on virtual controllers.
@Suite struct EnergyWorldTests {
    /// The number of steps in each world.
    private static let steps = 25

    @Test(
        "in random worlds the energy ledger equals the radio's own time to the microsecond, by PHY, and its parts add up",
        arguments: RandomWorldTests.seeds(by: 4)
    )
    func theLedgerIsTheRadiosTime(seed: UInt64) throws {
        let random = RandomSource(seed: seed)
        var (channel, radios): (Radio?, [MeteredRadio]) = (nil, [])
        let world = RandomWorld(seed: seed) { number, loop in
            let shared = channel ?? Radio(loop: loop, random: random.split(100))
            channel = shared
            let radio = MeteredRadio(number, on: shared, loop: loop, random: random.split(UInt64(number)))
            radios.append(radio)
            return radio
        }
        let kinds = WorldStep.Kind.allCases.flatMap { Array(repeating: $0, count: $0.weight) }
        for _ in 0..<Self.steps {
            let kind = kinds[Int(random.below(UInt64(kinds.count)))]
            world.take(WorldStep(kind: kind, lot: random.next()))
            for radio in radios { try Self.compare(radio) }
        }
        let uses = radios.flatMap { $0.measure(.nrf54l15).ledger.items.map(\.account.use) }
        #expect(uses.contains(.scanning))
        #expect(uses.contains(.advertising))
        #expect(uses.contains { if case .link = $0 { true } else { false } })
        #expect(uses.contains { if case .operation = $0 { true } else { false } })
    }

    /// Expects that all that the radio did is in the ledger, once.
    private static func compare(_ device: MeteredRadio) throws {
        let profile = RadioProfile.nrf54l15
        let (ledger, radio) = device.measure(profile)
        let usage = ledger.usage
        try #require(usage.sending == .microseconds(radio.air.sending))
        try #require(usage.listening == .microseconds(radio.air.listening))
        for (index, phy) in RadioPHY.allCases.enumerated() {
            try #require(usage.sending(on: phy) == .microseconds(radio.breakdown.sendingByPHY[index]))
        }
        for (index, modulation) in RadioPHY.Modulation.allCases.enumerated() {
            let listening = Duration.microseconds(radio.breakdown.listeningByModulation[index])
            try #require(usage.listening(for: modulation) == listening)
        }
        try #require(usage.transmissions == radio.air.framesSent)
        try #require(usage.listens == Int(radio.breakdown.listens))
        try #require(usage.idle == .microseconds(radio.idle))
        try #require(usage.events == Int(radio.events))
        try #require((ledger.total - ledger.sleep).femtocoulombs == radio.charge(profile))
        let parts = (ledger.apps.map(Optional.some) + [nil]).reduce(ledger.sleep) { $0 + ledger.charge(of: $1) }
        try #require(parts == ledger.total)
    }
}
