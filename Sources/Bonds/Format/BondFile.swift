import BluetoothTypes
import Crypto

/// Why octets are not a file of bonds.
enum BondFileError: Error, Hashable, Sendable {
    /// A version that this program does not know.
    case unknownVersion(UInt16)
    /// The octets are not what was written.
    case damaged(String)
    /// It was not written with the secret of this host.
    case foreign
}

/// The file of a store: a mark, the version, the name of the host's secret, the length, the bonds, and the secret's seal over
/// all of it. Integers are least significant octet first. There is one way only to write a state, so that equal states are
/// equal files.
///
/// Version 1 had no secret: a plain checksum in place of the seal. It is read, and never written.
enum BondFile {
    /// What such a file begins with.
    static let mark = Array("HARALDBD".utf8)
    /// The version that is written.
    static let version: UInt16 = 2
    /// Most octets of a file: enough for ``BondStore/maximumBonds`` of the largest size (``Bond/maximumSize``).
    static let maximumSize = 16 << 20

    /// The file of a state.
    static func encode(_ state: StoredBonds, _ secret: HostSecret) -> PacketBuffer {
        var body: PacketBuffer = []
        state.write(to: &body)
        var file: PacketBuffer = []
        file.append(contentsOf: mark)
        file.append(integer: version)
        file.append(contentsOf: secret.name)
        file.append(integer: UInt32(truncatingIfNeeded: body.count))
        file.append(contentsOf: body)
        file.append(contentsOf: secret.seal(file.bytes))
        return file
    }

    /// The state in a file; nil in place of a secret when this host has none yet.
    static func decode(_ file: PacketBuffer, _ secret: HostSecret?) throws(BondFileError) -> StoredBonds {
        let parts = try Parts(file)
        switch parts.version {
        case 1:
            guard Array(SHA256.hash(data: parts.sealed)) == parts.seal else { throw .damaged("the checksum is wrong") }
            // Once there is a secret, a file without one is somebody else's, except the one that was there before it.
            guard secret?.hasReplaced(parts.seal) ?? true else { throw .foreign }
        default:
            guard let secret, secret.name == parts.name else { throw .foreign }
            guard secret.isSeal(parts.seal, of: parts.sealed) else { throw .damaged("the seal is wrong") }
        }
        do throws(PacketError) {
            return try StoredBonds(reading: parts.body, version: parts.version)
        } catch {
            throw .damaged("\(error)")
        }
    }

    /// The checksum at the end of a file of version 1; nil for another file.
    static func checksumOfVersion1(_ file: PacketBuffer) -> [UInt8]? {
        guard let parts = try? Parts(file), parts.version == 1 else { return nil }
        return parts.seal
    }
}

extension BondFile {
    /// A file taken to pieces. Of a version that is not known nothing but that is known.
    private struct Parts {
        let version: UInt16
        let name: [UInt8]
        let body: PacketBuffer
        let seal: [UInt8]
        /// What the seal is over.
        let sealed: [UInt8]

        init(_ file: PacketBuffer) throws(BondFileError) {
            let (mark, maximum) = (BondFile.mark, BondFile.maximumSize)
            guard file.count <= maximum else { throw .damaged("it is longer than \(maximum) octets") }
            guard file.prefix(upTo: mark.count).elementsEqual(mark) else { throw .damaged("it is no file of bonds") }
            var reader = ByteReader(file.suffix(after: mark.count))
            do throws(PacketError) { version = try reader.integer(at: "version") } catch { throw .damaged("\(error)") }
            guard version == 1 || version == BondFile.version else { throw .unknownVersion(version) }
            do throws(PacketError) {
                name = version == 1 ? [] : try reader.slice(HostSecret.nameSize, at: "name").bytes
                body = try reader.slice(Int(try reader.integer(UInt32.self, at: "length")), at: "bonds")
                seal = try reader.slice(HostSecret.count, at: "seal").bytes
                try reader.end(at: "file")
            } catch {
                throw .damaged("\(error)")
            }
            sealed = file.prefix(upTo: file.count - HostSecret.count).bytes
        }
    }
}
