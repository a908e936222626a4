import BluetoothTypes

/// The reason why a file was not accepted as one that this host has written.
enum SealedFileError: Error, Hashable, Sendable {
    case unknownVersion(UInt16)
    /// The content is not what was written.
    case damaged(String)
    /// The file was not written with the secret of this host.
    case foreign
}

/// A kind of file that only this host can write. It consists of a mark, the version, the name of the host's secret, the
/// length, the content, and a seal over all of these made with the secret. Integers are little-endian. The encoding is
/// canonical: equal contents result in equal files.
struct SealedFile: Hashable, Sendable {
    /// The octets at the beginning of the file.
    let mark: [UInt8]
    /// The version that is written.
    let version: UInt16
    /// The oldest version with a seal that is read; nil if that is ``version``.
    var oldest: UInt16?
    /// The maximum size of a file, in octets.
    let maximumSize: Int
    /// The purpose for which the key of the seal is derived. Each kind has its own key, so that a file is not accepted
    /// as one of another kind.
    let purpose: String
    /// A name of the content for error messages.
    let content: String

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

    /// Decodes the content of a file. `secret` is nil if this host has none yet.
    func decode(_ file: PacketBuffer, _ secret: HostSecret?) throws(SealedFileError) -> PacketBuffer {
        try open(Parts(file, of: self), secret)
    }

    /// Returns the content if it was sealed by this host.
    func open(_ parts: Parts, _ secret: HostSecret?) throws(SealedFileError) -> PacketBuffer {
        guard let secret, secret.name == parts.name else { throw .foreign }
        guard secret.isSeal(parts.seal, of: parts.sealed, for: purpose) else { throw .damaged("wrong seal") }
        return parts.body
    }

    /// The fields of a file. An unknown version is an error, because nothing else of such a file is known.
    struct Parts {
        let version: UInt16
        /// The name of the secret; empty in a version without a secret.
        let name: [UInt8]
        let body: PacketBuffer
        let seal: [UInt8]
        /// The octets that the seal covers.
        let sealed: [UInt8]

        /// - Parameter secretless: The version that had no secret, if there was one.
        init(_ file: PacketBuffer, of kind: SealedFile, secretless: UInt16? = nil) throws(SealedFileError) {
            guard file.count <= kind.maximumSize else {
                throw .damaged("it is longer than \(kind.maximumSize) octets")
            }
            guard file.prefix(upTo: kind.mark.count).elementsEqual(kind.mark) else {
                throw .damaged("it is not a file of \(kind.content)")
            }
            var reader = ByteReader(file.suffix(after: kind.mark.count))
            do throws(PacketError) { version = try reader.integer(at: "version") } catch { throw .damaged("\(error)") }
            let sealedVersions = (kind.oldest ?? kind.version)...kind.version
            guard version == secretless || sealedVersions.contains(version) else { throw .unknownVersion(version) }
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
