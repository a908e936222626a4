import BluetoothTypes
import Cryptography
import Foundation
import ServiceMessages

/// The identifiers that this host assigns to peers. An identifier is derived from the peer's address and a secret of
/// the host. It is the same after a restart (behaviours 6.19, 11.3) and different on each host. With the secret, the
/// address can be recovered without a table; without it, the identifier reveals nothing about the address.
///
/// A deterministic encryption with the check in place of a nonce, as in RFC 5297: 70 bits of a pseudorandom function of
/// the address, and the address masked by the same function of the check. An app cannot forge an identifier that
/// decodes to an address.
struct PeerNames {
    /// The number of identifiers that one address may have. One other than the first is used when a bonded peer has
    /// kept the first after its address was replaced by its identity address.
    static let perAddress: UInt8 = 8

    private let cipher: AES128

    /// - Parameter secret: A secret of the host that is used for nothing else.
    init(_ secret: Key128) {
        cipher = AES128(secret)
    }

    /// Returns the identifier of an address. `number` is below ``perAddress``.
    func name(of address: BluetoothAddress, number: UInt8 = 0) -> UUID {
        let plain = UInt64(number) << 49 | (address.kind.isRandom ? 1 << 48 : 0) | address.value
        let check = check(plain)
        return UUID(plain ^ mask(check), check)
    }

    /// Returns the address with this identifier; nil if this host did not assign it.
    func address(of name: UUID) -> (address: BluetoothAddress, number: UInt8)? {
        guard let (hidden, check) = name.parts else { return nil }
        let plain = hidden ^ mask(check)
        guard self.check(plain) == check else { return nil }
        let kind: BluetoothAddress.Kind = plain >> 48 & 1 == 1 ? .randomDevice : .publicDevice
        return (BluetoothAddress(plain & 0xFFFF_FFFF_FFFF, kind: kind), UInt8(plain >> 49))
    }

    private func check(_ plain: UInt64) -> Check {
        let block = cipher.encrypt(Block128(high: 1, low: plain))
        return Check(high: UInt8(truncatingIfNeeded: block.high) & 0x3F, low: block.low)
    }

    private func mask(_ check: Check) -> UInt64 {
        cipher.encrypt(Block128(high: 2 << 8 | UInt64(check.high), low: check.low)).low & UUID.hiddenBits
    }
}

/// The 70 bits of the pseudorandom function that authenticate an identifier.
private struct Check: Equatable {
    let high: UInt8
    let low: UInt64
}

extension UUID {
    /// A mask of the 52 bits with the address, its kind, and the number.
    fileprivate static let hiddenBits: UInt64 = (1 << 52) - 1

    /// Sets the version and variant of a random UUID (RFC 9562 5.4).
    fileprivate init(_ hidden: UInt64, _ check: Check) {
        var octets = (0..<6).map { UInt8(truncatingIfNeeded: hidden >> (8 * $0)) }
        octets.append(0x40 | UInt8(hidden >> 48))
        octets.append(UInt8(truncatingIfNeeded: check.low))
        octets.append(0x80 | check.high)
        octets += (1..<8).map { UInt8(truncatingIfNeeded: check.low >> (8 * $0)) }
        self.init(octets)
    }

    fileprivate var parts: (hidden: UInt64, check: Check)? {
        let octets = withUnsafeBytes(of: uuid) { Array($0) }
        guard octets[6] >> 4 == 4, octets[8] >> 6 == 2 else { return nil }
        let hidden = octets[..<6].reversed().reduce(UInt64(octets[6] & 0x0F)) { $0 << 8 | UInt64($1) }
        let low = octets[9...].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) } << 8 | UInt64(octets[7])
        return (hidden, Check(high: octets[8] & 0x3F, low: low))
    }
}
