import BluetoothTypes
import Cryptography

/// The session key and initialization vector of an encrypted link (Core Vol 6 Part B 5.1.3.1).
struct EncryptionSession: Hashable {
    /// The session key, derived from the long term key.
    let key: Key128
    /// The initialization vector in transmission order, the central's half first.
    let vector: [UInt8]

    /// Creates a session from the long term key and the values that the two devices have exchanged.
    init(longTermKey: Key128, request: EncryptionRequest, response: EncryptionResponse) {
        let diversifier = Block128(high: response.keyDiversifier, low: request.keyDiversifier)
        key = Key128(AES128(longTermKey).encrypt(diversifier))
        vector = (0..<8).map { index in
            let half = index < 4 ? request.vector : response.vector
            return UInt8(truncatingIfNeeded: half >> (8 * UInt32(index & 3)))
        }
    }
}

/// One direction of an encrypted link: the cipher and the packet counter (Core Vol 6 Part E 2).
struct PacketCipher {
    /// The maximum number of PDUs per session and direction: the counter has 39 bits.
    static let maximumPackets: UInt64 = 1 << 39

    private let ccm: CCM
    private let vector: [UInt8]
    private let isFromCentral: Bool
    /// The counter of the next PDU. A retransmitted PDU keeps its counter.
    private var counter: UInt64

    init(_ session: EncryptionSession, isFromCentral: Bool, counter: UInt64 = 0) {
        ccm = CCM(session.key)
        vector = session.vector
        self.isFromCentral = isFromCentral
        self.counter = counter
    }

    /// Encrypts the payload of the next PDU; nil if the packet counter is exhausted.
    ///
    /// - Parameter header: The authenticated octet of the header (``DataHeader/authenticated``).
    mutating func seal(_ payload: PacketBuffer, header: UInt8) -> PacketBuffer? {
        guard counter < Self.maximumPackets else { return nil }
        defer { counter += 1 }
        return PacketBuffer(ccm.encrypt(payload, nonce: nonce, header: header))
    }

    /// Decrypts the payload of the next received PDU; nil if it is not authentic (AB-L08).
    mutating func open(_ payload: PacketBuffer, header: UInt8) -> PacketBuffer? {
        guard counter < Self.maximumPackets, payload.count > CCM.codeLength else { return nil }
        guard let opened = ccm.decrypt(payload, nonce: nonce, header: header) else { return nil }
        counter += 1
        return PacketBuffer(opened)
    }

    /// The packet counter with the direction bit, followed by the initialization vector.
    private var nonce: [UInt8] {
        var nonce: [UInt8] = []
        nonce.reserveCapacity(CCM.nonceLength)
        for index in 0..<UInt64(5) { nonce.append(UInt8(truncatingIfNeeded: counter >> (8 * index))) }
        if isFromCentral { nonce[4] |= 0x80 }
        nonce += vector
        return nonce
    }
}
