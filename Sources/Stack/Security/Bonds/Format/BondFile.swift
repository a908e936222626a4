import BluetoothTypes
import Cryptography

/// The file format of a store, based on ``SealedFile``.
///
/// Version 2 had no pairing addresses. Version 1 had no secret, and a plain checksum in place of the seal. Both are
/// still read, but not written.
enum BondFile {
    /// The maximum size of a file, in octets: enough for ``BondStore/maximumBonds`` of the maximum size
    /// (``Bond/maximumSize``).
    static let maximumSize = 16 << 20

    static let version: UInt16 = 3

    private static let kind = SealedFile(
        mark: Array("HARALDBD".utf8),
        version: version,
        oldest: 2,
        maximumSize: maximumSize,
        purpose: "bonds",
        content: "bonds"
    )
    private static let secretless: UInt16 = 1

    static func encode(_ state: StoredBonds, _ secret: HostSecret) -> PacketBuffer {
        var body: PacketBuffer = []
        state.write(to: &body)
        return kind.encode(body, secret)
    }

    /// Decodes the state in a file. `secret` is nil if this host has none yet.
    static func decode(_ file: PacketBuffer, _ secret: HostSecret?) throws(SealedFileError) -> StoredBonds {
        let parts = try SealedFile.Parts(file, of: kind, secretless: secretless)
        let body: PacketBuffer
        if parts.version == secretless {
            guard SHA256Digest.of(parts.sealed) == parts.seal else { throw .damaged("wrong checksum") }
            // Once there is a secret, the only file without one that is trusted is the one that existed before it.
            guard secret?.hasReplaced(parts.seal) ?? true else { throw .foreign }
            body = parts.body
        } else {
            body = try kind.open(parts, secret)
        }
        do throws(PacketError) {
            return try StoredBonds(reading: body, version: parts.version)
        } catch {
            throw .damaged("\(error)")
        }
    }

    /// The checksum at the end of a file of version 1; nil for any other file.
    static func checksumOfVersion1(_ file: PacketBuffer) -> [UInt8]? {
        guard let parts = try? SealedFile.Parts(file, of: kind, secretless: secretless), parts.version == secretless
        else { return nil }
        return parts.seal
    }
}
