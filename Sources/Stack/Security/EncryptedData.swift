import BluetoothTypes
import Cryptography
import EventLoops

/// An error that is thrown when advertising data could not be encrypted or decrypted.
package enum EncryptedDataError: Error, Hashable, Sendable {
    /// The structure is of another type than encrypted data.
    case otherType(AdvertisingDataType)
    /// The structure is shorter than a randomizer and a MIC.
    case tooShort(octets: Int)
    /// The data exceed the capacity of one structure.
    case tooLong(octets: Int, limit: Int)
    /// The key material has the wrong length.
    case keyMaterialLength(Int)
    /// The MIC is wrong: the data was encrypted with other key material, or has been modified.
    case wrongCode
}

extension EncryptedDataError: CustomStringConvertible {
    /// The error in words.
    package var description: String {
        switch self {
        case .otherType(let type): "the structure contains \(type), not encrypted data"
        case .tooShort(let octets): "\(octets) octets are too few for encrypted data"
        case .tooLong(let octets, let limit):
            "there are \(octets) octets to encrypt, but only \(limit) fit into one structure; use several"
        case .keyMaterialLength(let octets):
            "key material must have \(EncryptedDataKeyMaterial.length) octets, not \(octets)"
        case .wrongCode: "the data was encrypted with other key material, or has been modified since"
        }
    }
}

/// The key material that encrypts and decrypts advertising data, shared with the devices that may read it (Core Vol 3
/// Part C 10.10; Core Specification Supplement Part A 1.23).
///
/// A structure of encrypted data consists of a 5-octet randomizer, other structures encrypted with AES-CCM, and a
/// 4-octet MIC. Every encryption uses a new randomizer, so that eavesdroppers cannot track the device by unchanged
/// data. For the same reason the data is encrypted again whenever the advertiser's private address changes.
package struct EncryptedDataKeyMaterial: Hashable, Sendable {
    /// The length of key material in octets.
    package static let length = 24
    /// The number of octets in the payload of a structure besides the encrypted data: 5 for the randomizer and 4 for
    /// the MIC.
    package static let overhead = randomizerLength + CCM.codeLength
    /// The maximum number of octets that one structure can encrypt.
    package static let maximumContent = AdvertisingData.maximumPayload - overhead

    static let randomizerLength = 5
    /// The additional authenticated octet of each structure (Core Specification Supplement Part A 1.23.3). The link
    /// layer never uses this value.
    private static let header: UInt8 = 0xEA

    /// The key that encrypts the data.
    package let sessionKey: Key128
    /// The fixed part of each nonce. A new key requires a new vector.
    package let vector: UInt64

    package init(sessionKey: Key128, vector: UInt64) {
        self.sessionKey = sessionKey
        self.vector = vector
    }

    /// Creates random key material.
    package init(random: RandomSource) {
        sessionKey = Key128(Block128(high: random.next(), low: random.next()))
        vector = random.next()
    }

    /// Parses key material in the format of its characteristic; see ``octets``.
    ///
    /// - Throws: ``EncryptedDataError/keyMaterialLength(_:)`` unless there are ``length`` octets.
    package init(octets: PacketBuffer) throws(EncryptedDataError) {
        guard octets.count == Self.length, let key = Key128(octets.prefix(upTo: 16)) else {
            throw .keyMaterialLength(octets.count)
        }
        sessionKey = key
        vector = octets.suffix(after: 16).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 24 octets of the characteristic (Core Vol 3 Part C 12.6): the key in the order of the cipher, most
    /// significant octet first, and the vector in the order of the nonce, least significant octet first.
    package var octets: PacketBuffer {
        var octets = PacketBuffer(sessionKey.bytes)
        octets.append(integer: vector)
        return octets
    }
}

// MARK: - Encryption

extension EncryptedDataKeyMaterial {
    /// Encrypts structures with a new randomizer.
    ///
    /// - Parameters:
    ///   - data: The structures to encrypt.
    ///   - padding: The number of zero octets to append, which hide the length of the structures. Devices that
    ///     implement a version before 6.2 may not expect them.
    ///   - random: The random source for the randomizer.
    /// - Throws: ``EncryptedDataError/tooLong(octets:limit:)`` if the structures and the padding exceed
    ///   ``maximumContent``.
    package func encrypt(
        _ data: AdvertisingData,
        padding: Int = 0,
        random: RandomSource
    ) throws(EncryptedDataError) -> AdvertisingStructure {
        try encrypt(data, padding: padding, randomizer: random.bytes(Self.randomizerLength))
    }

    func encrypt(
        _ data: AdvertisingData,
        padding: Int = 0,
        randomizer: [UInt8]
    ) throws(EncryptedDataError) -> AdvertisingStructure {
        let padding = min(max(padding, 0), AdvertisingData.maximumLength)
        let length = data.encodedLength + padding
        guard length <= Self.maximumContent else { throw .tooLong(octets: length, limit: Self.maximumContent) }
        let content = data.encoded.bytes + [UInt8](repeating: 0, count: padding)
        let sealed = CCM(sessionKey).encrypt(content, nonce: nonce(randomizer), header: Self.header)
        return AdvertisingStructure(.encryptedData, PacketBuffer(randomizer + sealed))
    }

    /// Decrypts a structure of encrypted data.
    ///
    /// - Returns: The structures in it.
    /// - Throws: Any ``EncryptedDataError`` except ``EncryptedDataError/tooLong(octets:limit:)``.
    package func decrypt(_ structure: AdvertisingStructure) throws(EncryptedDataError) -> AdvertisingData {
        guard structure.type == .encryptedData else { throw .otherType(structure.type) }
        let payload = structure.payload
        guard payload.count >= Self.overhead else { throw .tooShort(octets: payload.count) }
        let nonce = nonce(payload.prefix(upTo: Self.randomizerLength).bytes)
        let sealed = payload.suffix(after: Self.randomizerLength)
        guard let content = CCM(sessionKey).decrypt(sealed, nonce: nonce, header: Self.header) else { throw .wrongCode }
        return AdvertisingData(parsing: PacketBuffer(content))
    }

    /// Returns the nonce of the link layer (Core Vol 6 Part E 2.1), with the randomizer in place of the counter and the
    /// direction. The direction bit is the most significant bit of the randomizer, and as random as the others.
    private func nonce(_ randomizer: [UInt8]) -> [UInt8] {
        var nonce = PacketBuffer(randomizer)
        nonce.append(integer: vector)
        return nonce.bytes
    }
}

extension AdvertisingData {
    /// Returns the data with encrypted structures replaced by their content. Structures that `material` cannot decrypt
    /// stay as they are.
    package func decrypted(with material: EncryptedDataKeyMaterial) -> AdvertisingData {
        AdvertisingData(structures.flatMap { (try? material.decrypt($0))?.structures ?? [$0] })
    }
}
