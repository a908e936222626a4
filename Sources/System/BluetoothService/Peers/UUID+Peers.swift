import Foundation
import Security
import ServiceMessages

extension UUID {
    /// The identifier of a bonded peer, as apps see it.
    package init(_ identifier: BondIdentifier) {
        self.init(identifier.bytes)
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
