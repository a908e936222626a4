import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// How often services share a bit of the overflow area, on phones with a certain number of services.
struct OverflowStudy: Encodable, Hashable, Sendable {
    private static let bits = 128.0
    /// The number of services for which each phone is searched without having them.
    private static let searches = 4

    let services: Int
    let phones: Int
    /// The fraction of the phones two of whose services share a bit, and its expected value.
    let shared, sharedExpected: Double
    /// The fraction of scans for a service that a phone lacks which match the phone, and its expected value.
    let falseMatches, falseMatchesExpected: Double

    /// Searches the overflow areas of `phones` phones, each with this number of random services, for random ones.
    init(services: Int, phones: Int, random: RandomSource) {
        self.services = services
        self.phones = phones
        var (shared, matches) = (0, 0)
        for _ in 0..<phones {
            let indices = (0..<services).map { _ in OverflowArea.index(of: Self.service(random)) }
            if Set(indices).count < services { shared += 1 }
            let area = OverflowArea(bits: indices)
            matches += (0..<Self.searches).count { _ in area.mayContain(Self.service(random)) }
        }
        self.shared = phones == 0 ? 0 : Double(shared) / Double(phones)
        falseMatches = phones == 0 ? 0 : Double(matches) / Double(phones * Self.searches)
        sharedExpected = Self.sharing(services)
        falseMatchesExpected = Self.matching(services)
    }

    /// Returns the probability that at least two of `services` services share a bit: the birthday problem.
    static func sharing(_ services: Int) -> Double {
        1 - (0..<services).reduce(1.0) { $0 * max(1 - Double($1) / bits, 0) }
    }

    /// Returns the probability that another service has one of the bits of `services` services.
    static func matching(_ services: Int) -> Double { 1 - pow(1 - 1 / bits, Double(services)) }

    private static func service(_ random: RandomSource) -> BluetoothUUID {
        BluetoothUUID(high: random.next(), low: random.next())
    }
}
