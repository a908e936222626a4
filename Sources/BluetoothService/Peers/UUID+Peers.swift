import Bonds
import EventLoops
import Foundation

extension UUID {
    /// A UUID of version 4 (RFC 9562 5.4).
    init(random: RandomSource) {
        var octets = random.bytes(16)
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        self.init(octets)
    }

    /// The name of a bonded peer, as apps see it.
    init(_ identifier: BondIdentifier) {
        self.init(identifier.bytes)
    }

    private init(_ b: [UInt8]) {
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            )
        )
    }
}

extension BondIdentifier {
    /// The name of a peer, as its bond is to have it.
    init(_ uuid: UUID) {
        let octets = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        let halves = [octets.prefix(8), octets.suffix(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: halves[0], low: halves[1])
    }
}
