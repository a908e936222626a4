import BluetoothTypes

/// Why octets are not a file that this host has written.
enum SealedFileError: Error, Hashable, Sendable {
    /// A version that this program does not know.
    case unknownVersion(UInt16)
    /// The octets are not what was written.
    case damaged(String)
    /// It was not written with the secret of this host.
    case foreign
}

/// A kind of file that this host alone can write: a mark, the version, the name of the host's secret, the length, the content,
/// and the secret's seal over all of it. Integers are least significant octet first. There is one way only to write a content,
/// so that equal contents are equal files.
struct SealedFile: Hashable, Sendable {
    /// What such a file begins with.
    let mark: [UInt8]
    /// The version that is written.
    let version: UInt16
    /// Most octets of a file.
    let maximumSize: Int
    /// What the key of the seal is derived for. Other kinds have other keys, so that no file passes for one of another kind.
    let purpose: String
    /// What is in it, in words.
    let content: String

    /// The file of a content.
    func encode(_ body: PacketBuffer, _ secret: HostSecret) -> PacketBuffer {
        var file: PacketBuffer = []
        file.append(contentsOf: mark)
        file.append(integer: version)
        file.append(contentsOf: secret.name)
        file.append(integer: UInt32(truncatingIfNeeded: body.count))
        file.append(contentsOf: body)
        file.append(contentsOf: secret.seal(file.bytes, for: purpose))
        return file
    }

    /// The content of a file; nil in place of a secret when this host has none yet.
    func decode(_ file: PacketBuffer, _ secret: HostSecret?) throws(SealedFileError) -> PacketBuffer {
        try open(Parts(file, of: self), secret)
    }

    /// The content, if the seal is this host's.
    func open(_ parts: Parts, _ secret: HostSecret?) throws(SealedFileError) -> PacketBuffer {
        guard let secret, secret.name == parts.name else { throw .foreign }
        guard secret.isSeal(parts.seal, of: parts.sealed, for: purpose) else { throw .damaged("the seal is wrong") }
        return parts.body
    }

    /// A file taken to pieces. Of a version that is not known nothing but that is known.
    struct Parts {
        let version: UInt16
        /// Of the secret; none in a version without one.
        let name: [UInt8]
        let body: PacketBuffer
        let seal: [UInt8]
        /// What the seal is over.
        let sealed: [UInt8]

        /// - Parameter secretless: A version from before there were secrets, if there was one.
        init(_ file: PacketBuffer, of kind: SealedFile, secretless: UInt16? = nil) throws(SealedFileError) {
            guard file.count <= kind.maximumSize else {
                throw .damaged("it is longer than \(kind.maximumSize) octets")
            }
            guard file.prefix(upTo: kind.mark.count).elementsEqual(kind.mark) else {
                throw .damaged("it is no file of \(kind.content)")
            }
            var reader = ByteReader(file.suffix(after: kind.mark.count))
            do throws(PacketError) { version = try reader.integer(at: "version") } catch { throw .damaged("\(error)") }
            guard version == secretless || version == kind.version else { throw .unknownVersion(version) }
            do throws(PacketError) {
                name = version == secretless ? [] : try reader.slice(HostSecret.nameSize, at: "name").bytes
                body = try reader.slice(Int(try reader.integer(UInt32.self, at: "length")), at: kind.content)
                seal = try reader.slice(HostSecret.count, at: "seal").bytes
                try reader.end(at: "file")
            } catch {
                throw .damaged("\(error)")
            }
            sealed = file.prefix(upTo: file.count - HostSecret.count).bytes
        }
    }
}
