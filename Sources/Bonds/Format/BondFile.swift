import BluetoothTypes
import Crypto

/// Why octets are not a file of bonds.
enum BondFileError: Error, Hashable, Sendable {
    /// A version that this program does not know.
    case unknownVersion(UInt16)
    /// The octets are not what was written.
    case damaged(String)
}

/// The file of a store: a mark, the version, the length, the bonds, and a checksum over all of it. Integers are least
/// significant octet first. There is one way only to write a state, so that equal states are equal files.
enum BondFile {
    /// What such a file begins with.
    static let mark = Array("HARALDBD".utf8)
    /// The version that is written, and the only one so far.
    static let version: UInt16 = 1
    /// Most octets of a file. A bond takes 200 octets, and what it keeps of the peer's database some 1,500.
    static let maximumSize = 16 << 20
    /// Octets before the bonds: mark, version and length.
    static let headerSize = 14

    private static let checksumSize = SHA256.byteCount

    /// The file of a state.
    static func encode(_ state: StoredBonds) -> PacketBuffer {
        var body = PacketBuffer(headroom: headerSize, capacity: 4096)
        state.write(to: &body)
        var file = PacketBuffer(headroom: 0, capacity: body.count + headerSize + checksumSize)
        file.append(contentsOf: mark)
        file.append(integer: version)
        file.append(integer: UInt32(truncatingIfNeeded: body.count))
        file.append(contentsOf: body)
        file.append(contentsOf: checksum(of: file))
        return file
    }

    /// The state in a file.
    static func decode(_ file: PacketBuffer) throws(BondFileError) -> StoredBonds {
        guard file.count <= maximumSize else { throw .damaged("it is longer than \(maximumSize) octets") }
        guard file.prefix(upTo: mark.count).elementsEqual(mark) else { throw .damaged("it is no file of bonds") }
        let (body, checksum) = try parts(of: file)
        let checked = file.prefix(upTo: headerSize + body.count)
        guard checksum.elementsEqual(self.checksum(of: checked)) else { throw .damaged("the checksum is wrong") }
        do throws(PacketError) { return try StoredBonds(reading: body) } catch { throw .damaged("\(error)") }
    }

    /// What follows the mark and the version. Of another version nothing but that is known.
    private static func parts(
        of file: PacketBuffer
    ) throws(BondFileError) -> (body: PacketBuffer, checksum: PacketBuffer) {
        var reader = ByteReader(file.suffix(after: mark.count))
        let version: UInt16
        do throws(PacketError) { version = try reader.integer(at: "version") } catch { throw .damaged("\(error)") }
        guard version == Self.version else { throw .unknownVersion(version) }
        do throws(PacketError) {
            let body = try reader.slice(Int(try reader.integer(UInt32.self, at: "length")), at: "bonds")
            let checksum = try reader.slice(checksumSize, at: "checksum")
            try reader.end(at: "file")
            return (body, checksum)
        } catch {
            throw .damaged("\(error)")
        }
    }

    private static func checksum(of octets: PacketBuffer) -> [UInt8] {
        var hash = SHA256()
        octets.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Array(hash.finalize())
    }
}
