import BluetoothTypes
import Cryptography

/// What both ends of a link encrypt with until they agree on something else (Core Vol 6 Part B 5.1.3.1).
struct EncryptionSession: Hashable {
    /// The session key: never the long term key itself.
    let key: Key128
    /// The octets of the initialization vector as they are sent, the central's half first.
    let vector: [UInt8]

    /// From the long term key and what the two ends have told each other.
    init(longTermKey: Key128, request: EncryptionRequest, response: EncryptionResponse) {
        let diversifier = Block128(high: response.keyDiversifier, low: request.keyDiversifier)
        key = Key128(AES128(longTermKey).encrypt(diversifier))
        vector = (0..<8).map { index in
            let half = index < 4 ? request.vector : response.vector
            return UInt8(truncatingIfNeeded: half >> (8 * UInt32(index & 3)))
        }
    }
}

/// One direction of an encrypted link: the cipher, and the number of the next PDU (Core Vol 6 Part E 2).
struct PacketCipher {
    /// PDUs that one session may have in each direction: the number has 39 bits.
    static let maximumPackets: UInt64 = 1 << 39

    private let ccm: CCM
    private let vector: [UInt8]
    private let isFromCentral: Bool
    /// Of the next PDU. One that is sent again keeps its number.
    private var counter: UInt64

    init(_ session: EncryptionSession, isFromCentral: Bool, counter: UInt64 = 0) {
        ccm = CCM(session.key)
        vector = session.vector
        self.isFromCentral = isFromCentral
        self.counter = counter
    }

    /// The payload of the next PDU as it goes on the air; nil when the session has had all the PDUs that it may have.
    ///
    /// - Parameter header: the octet of the header that is authenticated (``DataHeader/authenticated``).
    mutating func seal(_ payload: PacketBuffer, header: UInt8) -> PacketBuffer? {
        guard counter < Self.maximumPackets else { return nil }
        defer { counter += 1 }
        return PacketBuffer(ccm.encrypt(payload, nonce: nonce, header: header))
    }

    /// The payload of the next PDU that came; nil when it is not the peer's (AB-L08).
    mutating func open(_ payload: PacketBuffer, header: UInt8) -> PacketBuffer? {
        guard counter < Self.maximumPackets, payload.count > CCM.codeLength else { return nil }
        guard let opened = ccm.decrypt(payload, nonce: nonce, header: header) else { return nil }
        counter += 1
        return PacketBuffer(opened)
    }

    /// The number, the direction in the bit above it, and the vector.
    private var nonce: [UInt8] {
        var nonce: [UInt8] = []
        nonce.reserveCapacity(CCM.nonceLength)
        for index in 0..<UInt64(5) { nonce.append(UInt8(truncatingIfNeeded: counter >> (8 * index))) }
        if isFromCentral { nonce[4] |= 0x80 }
        nonce += vector
        return nonce
    }
}
