import BluetoothTypes
import Crypto

/// The file of a store: a ``SealedFile``.
///
/// Version 1 had no secret: a plain checksum in place of the seal. It is read, and never written.
enum BondFile {
    /// Most octets of a file: enough for ``BondStore/maximumBonds`` of the largest size (``Bond/maximumSize``).
    static let maximumSize = 16 << 20

    /// The version that is written.
    static let version: UInt16 = 2

    private static let kind = SealedFile(
        mark: Array("HARALDBD".utf8),
        version: version,
        maximumSize: maximumSize,
        purpose: "bonds",
        content: "bonds"
    )
    private static let secretless: UInt16 = 1

    /// The file of a state.
    static func encode(_ state: StoredBonds, _ secret: HostSecret) -> PacketBuffer {
        var body: PacketBuffer = []
        state.write(to: &body)
        return kind.encode(body, secret)
    }

    /// The state in a file; nil in place of a secret when this host has none yet.
    static func decode(_ file: PacketBuffer, _ secret: HostSecret?) throws(SealedFileError) -> StoredBonds {
        let parts = try SealedFile.Parts(file, of: kind, secretless: secretless)
        let body: PacketBuffer
        if parts.version == secretless {
            guard Array(SHA256.hash(data: parts.sealed)) == parts.seal else { throw .damaged("the checksum is wrong") }
            // Once there is a secret, a file without one is somebody else's, except the one that was there before it.
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

    /// The checksum at the end of a file of version 1; nil for another file.
    static func checksumOfVersion1(_ file: PacketBuffer) -> [UInt8]? {
        guard let parts = try? SealedFile.Parts(file, of: kind, secretless: secretless), parts.version == secretless
        else { return nil }
        return parts.seal
    }
}
