/// AES-CCM with the link layer's parameters: a 4-octet MIC, a 13-octet nonce, and one octet of additional authenticated
/// data (Core Vol 6 Part E 2; RFC 3610 with M = 4, L = 2).
package struct CCM: Sendable {
    /// The length of the message integrity code (MIC), in octets.
    package static let codeLength = 4
    /// The length of a nonce, in octets.
    package static let nonceLength = 13

    private let cipher: any MessageCipher
    /// The length of the code, in octets. The link layer's, except in tests.
    private let codeLength: Int

    /// Creates a cipher under the session key `key`.
    package init(_ key: Key128, with provider: any CryptographyProvider = CryptographyProviders.standard) {
        self.init(key, codeLength: Self.codeLength, with: provider)
    }

    init(_ key: Key128, codeLength: Int, with provider: any CryptographyProvider) {
        cipher = provider.messageCipher(key)
        self.codeLength = codeLength
    }

    /// Encrypts `payload` and appends its MIC.
    ///
    /// - Parameters:
    ///   - nonce: ``nonceLength`` octets. A longer nonce is truncated, a shorter one padded with zeroes.
    ///   - header: The additional authenticated octet. It is not encrypted.
    package func encrypt(_ payload: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8] {
        encrypt(Array(payload), nonce: nonce, authenticating: CollectionOfOne(header))
    }

    /// Decrypts the output of ``encrypt(_:nonce:header:)``.
    ///
    /// - Returns: The payload, or nil when the MIC does not match: the key, nonce or header differs, or the data was
    ///   modified.
    package func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], header: UInt8) -> [UInt8]? {
        decrypt(Array(sealed), nonce: nonce, authenticating: CollectionOfOne(header))
    }

    /// Encrypts with any additional authenticated data.
    func encrypt(
        _ payload: [UInt8],
        nonce: [UInt8],
        authenticating data: some Collection<UInt8>
    ) -> [UInt8] {
        let code = code(of: payload, nonce: nonce, authenticating: data)
        var (mask, sealed) = cipher.stream(from: firstCounter(nonce), payload, spareCapacity: codeLength)
        let sealedCode = code ^ mask
        for index in 0..<codeLength { sealed.append(sealedCode[index]) }
        return sealed
    }

    /// Decrypts with any additional authenticated data.
    func decrypt(
        _ sealed: [UInt8],
        nonce: [UInt8],
        authenticating data: some Collection<UInt8>
    ) -> [UInt8]? {
        guard sealed.count >= codeLength else { return nil }
        let octets = Array(sealed.dropLast(codeLength))
        let (mask, payload) = cipher.stream(from: firstCounter(nonce), octets, spareCapacity: 0)
        let code = code(of: payload, nonce: nonce, authenticating: data) ^ mask
        return sealed.suffix(codeLength).isEqualInConstantTime(to: code.bytes.prefix(codeLength)) ? payload : nil
    }

    /// Returns a block of the flags octet, the nonce and a 16-bit big-endian number.
    private func block(flags: UInt8, _ nonce: [UInt8], _ number: Int) -> Block128 {
        var block = Block128(high: UInt64(flags) << 56, low: UInt64(truncatingIfNeeded: number & 0xFFFF))
        for (index, octet) in nonce.prefix(Self.nonceLength).enumerated() { block[1 + index] = octet }
        return block
    }

    /// Returns the counter block of the key stream's block 0, which encrypts the MIC.
    private func firstCounter(_ nonce: [UInt8]) -> Block128 { block(flags: 0x01, nonce, 0) }

    /// Returns the last CBC-MAC block over the first block, the authenticated data and the payload. The unencrypted MIC
    /// is its beginning.
    private func code(
        of payload: [UInt8],
        nonce: [UInt8],
        authenticating data: some Collection<UInt8>
    ) -> Block128 {
        // Authenticated data present, M, L = 2 (RFC 3610 2.2).
        let flags = (data.isEmpty ? 0 : 0x40) | UInt8(truncatingIfNeeded: (codeLength - 2) / 2) << 3 | 0x01
        var input: [UInt8] = []
        input.reserveCapacity(4 * Block128.length + data.count + payload.count)
        block(flags: flags, nonce, payload.count).append(to: &input)
        if !data.isEmpty {
            // Data of fewer than 0xFF00 octets is preceded by its length.
            input.append(UInt8(truncatingIfNeeded: data.count >> 8))
            input.append(UInt8(truncatingIfNeeded: data.count))
            input += data
            Self.pad(&input)
        }
        input += payload
        Self.pad(&input)
        return cipher.chain(input)
    }

    private static func pad(_ input: inout [UInt8]) {
        input += repeatElement(0, count: -input.count & (Block128.length - 1))
    }
}
