import BluetoothTypes
import Cryptography
import EventLoops

/// Why encrypted advertising data could not be made, or read.
package enum EncryptedDataError: Error, Hashable, Sendable {
    /// The structure is of another type.
    case otherType(AdvertisingDataType)
    /// There are fewer octets than a randomizer and a code take.
    case tooShort(octets: Int)
    /// There are more octets to be encrypted than one structure holds.
    case tooLong(octets: Int, limit: Int)
    /// Key material has another length.
    case keyMaterialLength(Int)
    /// The code is wrong: the data were made with other key material, or have been changed since.
    case wrongCode
}

extension EncryptedDataError: CustomStringConvertible {
    /// What is wrong.
    package var description: String {
        switch self {
        case .otherType(let type): "the structure is of the type \(type); there is nothing encrypted in it"
        case .tooShort(let octets): "\(octets) octets are too few for encrypted data"
        case .tooLong(let octets, let limit):
            "\(octets) octets are to be encrypted where \(limit) have room; use several structures"
        case .keyMaterialLength(let octets):
            "key material has \(EncryptedDataKeyMaterial.length) octets, and these are \(octets)"
        case .wrongCode: "the encrypted data were made with other key material, or have been changed since"
        }
    }
}

/// What encrypts advertising data and opens them again, shared by those who are to read them (Core Vol 3 Part C 10.10; Core
/// Specification Supplement Part A 1.23).
///
/// A structure of encrypted data is a randomizer of 5 octets, other structures under AES-CCM, and a code of 4 octets. Each
/// encryption draws a new randomizer: a listener cannot tell what stayed the same, and follow the device by it. For that
/// end data are encrypted anew whenever the advertiser's private address changes, as well.
package struct EncryptedDataKeyMaterial: Hashable, Sendable {
    /// Octets of key material.
    package static let length = 24
    /// Octets of a structure's payload besides what is encrypted: 5 of the randomizer and 4 of the code.
    package static let overhead = randomizerLength + CCM.codeLength
    /// The most octets that one structure encrypts.
    package static let maximumContent = AdvertisingData.maximumPayload - overhead

    static let randomizerLength = 5
    /// The octet that is authenticated with each structure (Core Specification Supplement Part A 1.23.3). It is none that
    /// the link layer uses.
    private static let header: UInt8 = 0xEA

    /// The key that the data are encrypted with.
    package let sessionKey: Key128
    /// The part of each nonce that stays the same. A new key gets a new one.
    package let vector: UInt64

    /// The given key material.
    package init(sessionKey: Key128, vector: UInt64) {
        self.sessionKey = sessionKey
        self.vector = vector
    }

    /// New key material.
    package init(random: RandomSource) {
        sessionKey = Key128(Block128(high: random.next(), low: random.next()))
        vector = random.next()
    }

    /// Reads key material as its characteristic has it; see ``octets``.
    ///
    /// - Throws: ``EncryptedDataError/keyMaterialLength(_:)``.
    package init(octets: PacketBuffer) throws(EncryptedDataError) {
        guard octets.count == Self.length, let key = Key128(octets.prefix(upTo: 16)) else {
            throw .keyMaterialLength(octets.count)
        }
        sessionKey = key
        vector = octets.suffix(after: 16).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 24 octets of the characteristic (Core Vol 3 Part C 12.6): the key as the cipher takes it, the most significant
    /// octet first, and the vector as the nonce has it, the least significant first.
    package var octets: PacketBuffer {
        var octets = PacketBuffer(sessionKey.bytes)
        octets.append(integer: vector)
        return octets
    }
}

// MARK: - Encrypting

extension EncryptedDataKeyMaterial {
    /// Encrypts structures, with a randomizer of their own.
    ///
    /// - Parameter padding: Octets of zero behind the structures, which hide how long these are. Readers older than version
    ///   6.2 may not expect them.
    /// - Throws: ``EncryptedDataError/tooLong(octets:limit:)`` above ``maximumContent`` octets with the padding.
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

    /// The structures in a structure of encrypted data.
    ///
    /// - Throws: ``EncryptedDataError``: all but ``EncryptedDataError/tooLong(octets:limit:)``.
    package func decrypt(_ structure: AdvertisingStructure) throws(EncryptedDataError) -> AdvertisingData {
        guard structure.type == .encryptedData else { throw .otherType(structure.type) }
        let payload = structure.payload
        guard payload.count >= Self.overhead else { throw .tooShort(octets: payload.count) }
        let nonce = nonce(payload.prefix(upTo: Self.randomizerLength).bytes)
        let sealed = payload.suffix(after: Self.randomizerLength)
        guard let content = CCM(sessionKey).decrypt(sealed, nonce: nonce, header: Self.header) else { throw .wrongCode }
        return AdvertisingData(parsing: PacketBuffer(content))
    }

    /// The nonce of the link layer (Core Vol 6 Part E 2.1) with the randomizer in the place of counter and direction: the
    /// direction is the randomizer's most significant bit, and as random as the others.
    private func nonce(_ randomizer: [UInt8]) -> [UInt8] {
        var nonce = PacketBuffer(randomizer)
        nonce.append(integer: vector)
        return nonce.bytes
    }
}

extension AdvertisingData {
    /// The data with the contents of encrypted structures in their place, as far as `material` opens them. Those of others
    /// stay as they are.
    package func decrypted(with material: EncryptedDataKeyMaterial) -> AdvertisingData {
        AdvertisingData(structures.flatMap { (try? material.decrypt($0))?.structures ?? [$0] })
    }
}
