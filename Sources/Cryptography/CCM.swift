/// AES-CCM as the link layer uses it: a code of 4 octets, a nonce of 13, one octet that is authenticated and not
/// encrypted (Core Vol 6 Part E 2; RFC 3610 with M = 4, L = 2).
public struct CCM: Sendable {
    /// Octets that the message integrity code adds to a payload.
    public static let codeLength = 4
    /// Octets of a nonce.
    public static let nonceLength = 13

    private let cipher: AES128

    /// Encryption under `key`, which is a session's.
    public init(_ key: Key128) { cipher = AES128(key) }

    /// The payload, encrypted, with its code behind it. `nonce` has ``nonceLength`` octets; others are cut or padded
    /// with zeroes.
    public func encrypt(_ payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8] {
        let code = code(of: payload, nonce: nonce, header: header)
        return crypt(payload, nonce: nonce) + bytes(of: code ^ key(0, nonce))
    }

    /// The payload of what ``encrypt(_:nonce:header:)`` made; nil when its code is wrong: it was not made with this key,
    /// nonce and header, or has been changed since.
    public func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8]? {
        guard sealed.count >= Self.codeLength else { return nil }
        let payload = crypt(sealed.dropLast(Self.codeLength), nonce: nonce)
        let expected = bytes(of: code(of: payload, nonce: nonce, header: header) ^ key(0, nonce))
        // Every octet is looked at, whichever differs: time tells nothing about a guess.
        let difference = zip(expected, sealed.suffix(Self.codeLength)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? payload : nil
    }

    private func bytes(of code: Block128) -> [UInt8] { (0..<Self.codeLength).map { code[$0] } }

    /// The block that a part of the payload is combined with: flags 0x01, the nonce, the part's number from 1.
    private func key(_ counter: Int, _ nonce: [UInt8]) -> Block128 {
        cipher.encrypt(block(flags: 0x01, nonce, counter))
    }

    private func block(flags: UInt8, _ nonce: [UInt8], _ number: Int) -> Block128 {
        var block = Block128.zero
        block[0] = flags
        for (index, byte) in nonce.prefix(Self.nonceLength).enumerated() { block[1 + index] = byte }
        block[14] = UInt8(truncatingIfNeeded: number >> 8)
        block[15] = UInt8(truncatingIfNeeded: number)
        return block
    }

    /// CBC-MAC over the first block, the header and the payload.
    private func code(of payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> Block128 {
        // Flags: authenticated data present, M = 4, L = 2.
        var state = cipher.encrypt(block(flags: 0x49, nonce, payload.count))
        var authenticated = Block128.zero
        authenticated[1] = 1
        authenticated[2] = header
        state = cipher.encrypt(state ^ authenticated)
        forEachBlock(of: payload) { block, _ in state = cipher.encrypt(state ^ block) }
        return state
    }

    private func crypt(_ payload: some Collection<UInt8>, nonce: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(payload.count + Self.codeLength)
        var counter = 0
        forEachBlock(of: payload) { block, length in
            counter += 1
            let mixed = block ^ key(counter, nonce)
            for index in 0..<length { result.append(mixed[index]) }
        }
        return result
    }

    private func forEachBlock(of payload: some Collection<UInt8>, _ body: (Block128, _ length: Int) -> Void) {
        var rest = payload[...]
        while !rest.isEmpty {
            let part = rest.prefix(16)
            body(Block128(padding: part), part.count)
            rest = rest.dropFirst(16)
        }
    }
}
