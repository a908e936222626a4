import BluetoothTypes

/// Records in files of a ``HostDirectory``, each sealed with a key for its slot alone: what was written for one does not count in
/// another.
final class FileRecordStorage: RecordStorage {
    /// Most octets of a file.
    static let maximumSize = 1 << 20

    private let files: HostDirectory

    init(_ files: HostDirectory) {
        self.files = files
    }

    /// See ``RecordStorage/load(_:)``. One that is not used stays until something else is to be kept there; the first damaged one
    /// keeps a second name.
    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? {
        let file = Self.file(slot)
        let (octets, secret): ([UInt8]?, HostSecret?)
        do throws(BondError) {
            // Whoever was writing it is gone.
            try files.removeRest(of: file)
            octets = try files.read(file)
            secret = octets == nil ? nil : try files.readSecret()
        } catch {
            throw RecordError(error)
        }
        guard let octets else { return nil }
        let place = files.path(of: file)
        do throws(SealedFileError) {
            return try Self.kind(slot).decode(PacketBuffer(octets), secret).bytes
        } catch {
            switch error {
            case .unknownVersion(let version): throw .unknownVersion(place: place, version)
            case .foreign: throw .foreign(place: place)
            case .damaged(let reason):
                throw .damaged(place: place, reason: reason, backup: files.backUp(file))
            }
        }
    }

    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) {
        let file = Self.file(slot)
        do throws(BondError) {
            let content = Self.kind(slot).encode(PacketBuffer(octets), try files.secret()).bytes
            guard content.count <= Self.maximumSize else { throw .tooLarge(place: files.path(of: file)) }
            try files.replace(file, content)
        } catch {
            if case .tooLarge(let place) = error { throw .tooLarge(place: place, limit: Self.maximumSize) }
            throw RecordError(error)
        }
    }

    func remove(_ slot: RecordSlot) throws(RecordError) {
        do throws(BondError) { try files.remove(Self.file(slot)) } catch { throw RecordError(error) }
    }

    private static func file(_ slot: RecordSlot) -> HostDirectory.File {
        HostDirectory.File(name: slot.name, maximumSize: maximumSize, maximumBackups: 1)
    }

    /// How such a file is written.
    static func kind(_ slot: RecordSlot) -> SealedFile {
        SealedFile(
            mark: Array("HARALDRC".utf8),
            version: 1,
            maximumSize: maximumSize,
            purpose: "record \(slot.name)",
            content: "records"
        )
    }
}
