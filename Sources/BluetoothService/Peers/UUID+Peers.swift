import Bonds
import Foundation

extension UUID {
    /// The identifier of a bonded peer, as apps see it.
    init(_ identifier: BondIdentifier) {
        self.init(identifier.bytes)
    }

    /// Creates a UUID from 16 octets.
    init(_ b: [UInt8]) {
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            )
        )
    }
}

extension BondIdentifier {
    /// The identifier of a peer, as stored with its bond.
    init(_ uuid: UUID) {
        let octets = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        let halves = [octets.prefix(8), octets.suffix(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: halves[0], low: halves[1])
    }
}
