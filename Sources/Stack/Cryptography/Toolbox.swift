import BluetoothTypes

/// The Security Manager's cryptographic toolbox (Core Vol 3 Part H 2.2).
///
/// Octets are in the order of the specification, most significant first. Over-the-air order is the reverse.
package enum Toolbox {
    /// ah: the 24-bit hash of a resolvable private address, from an identity resolving key and the address's random
    /// part (2.2.2).
    package static func ah(
        _ key: Key128,
        _ random: UInt32,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> UInt32 {
        let hash = AES128(key, with: provider).encrypt(Block128(high: 0, low: UInt64(random & 0xFF_FFFF)))
        return UInt32(truncatingIfNeeded: hash.low & 0xFF_FFFF)
    }

    /// c1: the confirm value of legacy pairing (2.2.3). `request` and `response` are the complete PDUs in over-the-air
    /// order.
    package static func c1(
        _ key: Key128,
        random: Block128,
        request: [UInt8],
        response: [UInt8],
        initiator: BluetoothAddress,
        responder: BluetoothAddress,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> Block128 {
        let kinds = [responder.kind.isRandom ? UInt8(1) : 0, initiator.kind.isRandom ? 1 : 0]
        let p1 = Block128(padding: response.reversed() + request.reversed() + kinds)
        let p2 = Block128(high: initiator.value >> 16, low: initiator.value << 48 | responder.value)
        // p2 is four zero octets, the initiator's address, and the responder's address.
        let cipher = AES128(key, with: provider)
        return cipher.encrypt(cipher.encrypt(random ^ p1) ^ p2)
    }

    /// s1: the short-term key of legacy pairing, from the low halves of both random values (2.2.4).
    package static func s1(
        _ key: Key128,
        responder: Block128,
        initiator: Block128,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> Key128 {
        Key128(AES128(key, with: provider).encrypt(Block128(high: responder.low, low: initiator.low)))
    }

    /// f4: the confirm value of LE Secure Connections (2.2.6), over x coordinates.
    package static func f4(
        _ u: [UInt8],
        _ v: [UInt8],
        _ key: Block128,
        _ z: UInt8,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> Block128 {
        AESCMAC.code(for: u + v + [z], key: Key128(key), with: provider)
    }

    /// f5: the MacKey and the long-term key, derived from the shared secret (2.2.7).
    package static func f5(
        _ secret: [UInt8],
        _ n1: Block128,
        _ n2: Block128,
        _ a1: BluetoothAddress,
        _ a2: BluetoothAddress,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> (macKey: Key128, longTermKey: Key128) {
        let salt = Key128(Block128(high: 0x6C88_8391_AAF5_A538, low: 0x6037_0BDB_5A60_83BE))
        let t = Key128(AESCMAC.code(for: secret, key: salt, with: provider))
        // The key ID "btle", and 256: the combined length of both keys in bits.
        let common = [0x62, 0x74, 0x6C, 0x65] + n1.bytes + n2.bytes + octets(a1) + octets(a2) + [0x01, 0x00]
        let keys = (0...1 as ClosedRange<UInt8>).map {
            Key128(AESCMAC.code(for: [$0] + common, key: t, with: provider))
        }
        return (keys[0], keys[1])
    }

    /// f6: the check value that proves that both sides saw the same exchange (2.2.8). `capabilities` holds AuthReq, the
    /// OOB flag and the IO capability, in this order.
    package static func f6(
        _ macKey: Key128,
        _ n1: Block128,
        _ n2: Block128,
        _ r: Block128,
        capabilities: [UInt8],
        _ a1: BluetoothAddress,
        _ a2: BluetoothAddress,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> Block128 {
        AESCMAC.code(
            for: n1.bytes + n2.bytes + r.bytes + capabilities + octets(a1) + octets(a2),
            key: macKey,
            with: provider
        )
    }

    /// g2: the numeric comparison value that both users compare, 0 to 999,999 (2.2.9).
    package static func g2(
        _ u: [UInt8],
        _ v: [UInt8],
        _ x: Block128,
        _ y: Block128,
        with provider: any CryptographyProvider = CryptographyProviders.standard
    ) -> UInt32 {
        let code = AESCMAC.code(for: u + v + y.bytes, key: Key128(x), with: provider)
        return UInt32(truncatingIfNeeded: code.low) % 1_000_000
    }

    /// Encodes an address as the functions expect it: the address type, then the address, most significant octet first
    /// (2.2.7).
    private static func octets(_ address: BluetoothAddress) -> [UInt8] {
        [address.kind.isRandom ? 1 : 0] + address.littleEndianBytes.reversed()
    }
}
