import Crypto
import CryptoExtras

/// AES-CCM with the link layer's parameters: a 4-octet MIC, a 13-octet nonce, and one octet of additional authenticated
/// data (Core Vol 6 Part E 2; RFC 3610 with M = 4, L = 2).
///
/// Each payload costs two library calls, whatever its length, because a key schedule is more expensive than a block.
package struct CCM: Sendable {
    /// The length of the message integrity code (MIC), in octets.
    package static let codeLength = 4
    /// The length of a nonce, in octets.
    package static let nonceLength = 13

    private static let blockLength = 16

    private let key: SymmetricKey

    /// Creates a cipher under the session key `key`.
    package init(_ key: Key128) { self.key = SymmetricKey(data: key.bytes) }

    /// Encrypts `payload` and appends its MIC.
    ///
    /// - Parameters:
    ///   - nonce: ``nonceLength`` octets. A longer nonce is truncated, a shorter one padded with zeroes.
    ///   - header: The additional authenticated octet. It is not encrypted.
    package func encrypt(_ payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8] {
        let code = code(of: payload, nonce: nonce, header: header)
        var (mask, sealed) = crypt(payload, nonce: nonce)
        for index in 0..<Self.codeLength { sealed.append(code[index] ^ mask[index]) }
        return sealed
    }

    /// Decrypts the output of ``encrypt(_:nonce:header:)``.
    ///
    /// - Returns: The payload, or nil when the MIC does not match: the key, nonce or header differs, or the data was
    ///   modified.
    package func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8]? {
        guard sealed.count >= Self.codeLength else { return nil }
        let (mask, payload) = crypt(sealed.dropLast(Self.codeLength), nonce: nonce)
        let code = code(of: payload, nonce: nonce, header: header)
        // Compares in constant time: every octet is examined, so timing reveals nothing about a forged MIC.
        var difference: UInt8 = 0
        for (index, octet) in sealed.suffix(Self.codeLength).enumerated() {
            difference |= code[index] ^ mask[index] ^ octet
        }
        return difference == 0 ? payload : nil
    }

    /// Returns a block of the flags octet, the nonce and a 16-bit big-endian number.
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

    /// Returns the unencrypted MIC: the leading octets of the last CBC-MAC block over the first block, the header and
    /// the payload.
    private func code(of payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8] {
        // Flags: authenticated data present, M = 4, L = 2.
        var input = block(flags: 0x49, nonce, payload.count)
        input.reserveCapacity(3 * Self.blockLength + payload.count)
        // One octet of additional authenticated data, preceded by its length and padded with zeroes.
        input += [0, 1, header]
        input += repeatElement(0, count: Self.blockLength - 3)
        input += payload
        input += repeatElement(0, count: -payload.count & (Self.blockLength - 1))
        do {
            let zero = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: Self.blockLength))
            let chain = try AES._CBC.encrypt(input, using: key, iv: zero, noPadding: true)
            return Array(chain.suffix(Self.blockLength).prefix(Self.codeLength))
        } catch {
            // The library throws only for a wrong key, IV or input length. The input is whole blocks.
            preconditionFailure("AES-CBC refused whole blocks: \(error)")
        }
    }

    /// Applies the CTR key stream to `payload`. `mask` is the start of key stream block 0, which encrypts the MIC.
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
            // The library throws only for a wrong key or nonce length.
            preconditionFailure("AES-CTR refused a block of 16 octets: \(error)")
        }
    }
}
