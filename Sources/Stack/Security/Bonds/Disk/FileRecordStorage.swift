import BluetoothTypes
import EventLoops

/// Records in files of a ``HostDirectory``. Each is sealed with a key for its slot, so that a record is not accepted in
/// another slot.
final class FileRecordStorage: RecordStorage {
    /// The maximum size of a file, in octets.
    static let maximumSize = 1 << 20

    private let files: HostDirectory
    private let writer: DiskWriter?
    /// Whether the secret of this host is known to exist. The writer does not create it.
    private var hasSecret = false

    /// - Parameter writer: Makes changes in the background. Without it, the caller waits for them.
    init(_ files: HostDirectory, writer: DiskWriter? = nil) {
        self.files = files
        self.writer = writer
    }

    /// See ``RecordStorage/load(_:)``. A record that is refused stays until its slot is changed, and a damaged one is
    /// backed up once.
    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? {
        let file = Self.file(slot)
        let (octets, secret): ([UInt8]?, HostSecret?)
        do throws(BondError) {
            // A successor of the file can only be left over from a process that has ended.
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
        try Self.change(slot, to: octets, in: files)
    }

    func remove(_ slot: RecordSlot) throws(RecordError) {
        try Self.change(slot, to: nil, in: files)
    }

    /// Makes a change on the writer's thread, including the encoding.
    func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    ) {
        guard let writer else { return completion(changeNow(slot, content)) }
        do throws(BondError) {
            if !hasSecret { _ = try files.secret() }
            hasSecret = true
        } catch {
            return completion(RecordError(error))
        }
        let work: @Sendable (HostDirectory) throws(RecordError) -> Void = { (files) throws(RecordError) in
            try Self.change(slot, to: content(), in: files)
        }
        writer.run(on: loop, work) { [weak self] error in
            // The secret may have been removed. The next change creates a new one.
            if error != nil { self?.hasSecret = false }
            completion(error)
        }
    }

    func finish(within time: Duration) -> Bool { writer?.finish(within: time) ?? true }

    /// Writes a file, or removes it if `octets` is nil. The change is durable when this returns.
    private static func change(_ slot: RecordSlot, to octets: [UInt8]?, in files: HostDirectory) throws(RecordError) {
        let file = file(slot)
        do throws(BondError) {
            guard let octets else { return try files.remove(file) }
            let content = kind(slot).encode(PacketBuffer(octets), try files.secret()).bytes
            guard content.count <= maximumSize else { throw .tooLarge(place: files.path(of: file)) }
            try files.replace(file, content)
        } catch {
            if case .tooLarge(let place) = error { throw .tooLarge(place: place, limit: maximumSize) }
            throw RecordError(error)
        }
    }

    private static func file(_ slot: RecordSlot) -> HostDirectory.File {
        HostDirectory.File(name: slot.name, maximumSize: maximumSize, maximumBackups: 1)
    }

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
