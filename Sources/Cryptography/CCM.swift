import Crypto
import CryptoExtras

/// AES-CCM as the link layer uses it: a code of 4 octets, a nonce of 13, one octet that is authenticated and not
/// encrypted (Core Vol 6 Part E 2; RFC 3610 with M = 4, L = 2).
///
/// Two calls of the library for each payload, whatever its length: a key schedule costs more than a block.
package struct CCM: Sendable {
    /// Octets that the message integrity code adds to a payload.
    package static let codeLength = 4
    /// Octets of a nonce.
    package static let nonceLength = 13

    private static let blockLength = 16

    private let key: SymmetricKey

    /// Encryption under `key`, which is a session's.
    package init(_ key: Key128) { self.key = SymmetricKey(data: key.bytes) }

    /// The payload, encrypted, with its code behind it. `nonce` has ``nonceLength`` octets; others are cut or padded
    /// with zeroes.
    package func encrypt(_ payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8] {
        let code = code(of: payload, nonce: nonce, header: header)
        var (mask, sealed) = crypt(payload, nonce: nonce)
        for index in 0..<Self.codeLength { sealed.append(code[index] ^ mask[index]) }
        return sealed
    }

    /// The payload of what ``encrypt(_:nonce:header:)`` made; nil when its code is wrong: it was not made with this key,
    /// nonce and header, or has been changed since.
    package func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8]? {
        guard sealed.count >= Self.codeLength else { return nil }
        let (mask, payload) = crypt(sealed.dropLast(Self.codeLength), nonce: nonce)
        let code = code(of: payload, nonce: nonce, header: header)
        // Every octet is looked at, whichever differs: time tells nothing about a guess.
        var difference: UInt8 = 0
        for (index, octet) in sealed.suffix(Self.codeLength).enumerated() {
            difference |= code[index] ^ mask[index] ^ octet
        }
        return difference == 0 ? payload : nil
    }

    /// A block of the first octet, the nonce and a number of two octets.
    private func block(flags: UInt8, _ nonce: [UInt8], _ number: Int) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(Self.blockLength)
        block.append(flags)
        block += nonce.prefix(Self.nonceLength)
        while block.count <= Self.nonceLength { block.append(0) }
        block.append(UInt8(truncatingIfNeeded: number >> 8))
        block.append(UInt8(truncatingIfNeeded: number))
        return block
    }

    /// CBC-MAC over the first block, the header and the payload: the first octets of its last block.
    private func code(of payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8] {
        // Flags: authenticated data present, M = 4, L = 2.
        var input = block(flags: 0x49, nonce, payload.count)
        input.reserveCapacity(3 * Self.blockLength + payload.count)
        // One octet of authenticated data, with its length in front and zeroes behind.
        input += [0, 1, header]
        input += repeatElement(0, count: Self.blockLength - 3)
        input += payload
        input += repeatElement(0, count: -payload.count & (Self.blockLength - 1))
        do {
            let zero = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: Self.blockLength))
            let chain = try AES._CBC.encrypt(input, using: key, iv: zero, noPadding: true)
            return Array(chain.suffix(Self.blockLength).prefix(Self.codeLength))
        } catch {
            // The library refuses other lengths of key, vector and input only, and these are whole blocks.
            preconditionFailure("AES-CBC refused whole blocks: \(error)")
        }
    }

    /// The payload combined with the key stream, and what the code is combined with: the stream's first block, number 0.
    private func crypt(_ payload: some Collection<UInt8>, nonce: [UInt8]) -> (mask: [UInt8], payload: [UInt8]) {
        var input = [UInt8](repeating: 0, count: Self.blockLength)
        input.reserveCapacity(Self.blockLength + payload.count)
        input += payload
        do {
            let first = try AES._CTR.Nonce(nonceBytes: block(flags: 0x01, nonce, 0))
            let stream = try AES._CTR.encrypt(input, using: key, nonce: first)
            var result: [UInt8] = []
            result.reserveCapacity(payload.count + Self.codeLength)
            result += stream.dropFirst(Self.blockLength)
            return (Array(stream.prefix(Self.codeLength)), result)
        } catch {
            // The library refuses other lengths of key and nonce only.
            preconditionFailure("AES-CTR refused a block of 16 octets: \(error)")
        }
    }
}
