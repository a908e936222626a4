import BluetoothTypes
import EventLoops
import Synchronization

/// Bonds in a file of a directory that only the user may enter. The secret of this host, in the same directory, seals
/// the file (``HostDirectory``).
///
/// A file that other users could have read or written, or that differs from what this host wrote, is neither used nor
/// changed (AB-G06).
///
/// Each save writes a new file and renames it, so a removed key is gone from the store, although the disk may still
/// contain it.
package final class FileBondStorage: BondStorage {
    private let files: HostDirectory
    private let writer: DiskWriter?
    private let written = Written()
    private var lastNumber: UInt64 = 0
    package let records: any RecordStorage

    /// Opens a directory, which is created if necessary, for exclusive use by this object.
    ///
    /// - Parameter random: The source of this host's secret, which is created once.
    /// - Throws: ``BondError/inUse(place:)`` if another process has opened it, ``BondError/exposed(place:_:)`` if other
    ///   users may enter it, or another error if it cannot be opened.
    package convenience init(directory path: String, random: RandomSource) throws(BondError) {
        self.init(changing: try PosixBondDirectory(path), random: random)
    }

    /// Creates a storage for the bonds and records in `directory`. Deferred changes are made on a thread of their own
    /// (``RecordStorage/change(_:_:on:completion:)``).
    package init(changing directory: any BondDirectory & Sendable, random: RandomSource) {
        let writer = DiskWriter(directory)
        files = HostDirectory(directory, random: random)
        records = FileRecordStorage(files, writer: writer)
        self.writer = writer
    }

    /// Creates a storage for the bonds and records in `directory` that makes all changes on the caller's thread.
    package init(directory: any BondDirectory, random: RandomSource) {
        files = HostDirectory(directory, random: random)
        records = FileRecordStorage(files)
        writer = nil
    }

    /// Reads the state in a directory without changing anything, even if another process has opened it. Files are
    /// replaced as a whole, so the result is a state that was saved; nil if there is none.
    package static func inspect(into path: String) throws(BondError) -> StoredBonds? {
        let directory = try PosixBondDirectory(path, isToChange: false)
        return try FileBondStorage(directory: directory, random: RandomSource()).readState(keepsDamaged: false)
    }

    package var place: String { files.path(of: .bonds) }

    package func load() throws(BondError) -> StoredBonds? {
        // Successors of the files can only be left over from a process that has ended.
        for file in [HostDirectory.File.bonds, .secret] { try files.removeRest(of: file) }
        return try readState(keepsDamaged: true)
    }

    package func save(_ state: StoredBonds) throws(BondError) {
        _ = try files.secret()
        try Self.write(state, number: nextNumber(), written, to: files)
    }

    /// Replaces the file on another thread, unless it contains a newer state by then.
    package func saveLater(
        _ state: StoredBonds,
        on loop: any EventLoop,
        completion: @escaping (BondError?) -> Void
    ) {
        do throws(BondError) {
            guard let writer else {
                try save(state)
                return completion(nil)
            }
            _ = try files.secret()
            let (number, written) = (nextNumber(), written)
            let work: @Sendable (HostDirectory) throws(BondError) -> Void = { (files) throws(BondError) in
                try Self.write(state, number: number, written, to: files)
            }
            writer.run(on: loop, work, completion: completion)
        } catch {
            completion(error)
        }
    }

    private func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// The number of the newest state in the file.
    private final class Written: Sendable {
        private let number = Mutex<UInt64>(0)

        /// Writes the state with number `new`, unless the file contains a newer one. Comparing and writing are one
        /// atomic step.
        func replace(with new: UInt64, _ write: () throws(BondError) -> Void) throws(BondError) {
            try number.withLock { last throws(BondError) in
                guard new > last else { return }
                try write()
                last = new
            }
        }
    }

    private static func write(
        _ state: StoredBonds,
        number: UInt64,
        _ written: Written,
        to files: HostDirectory
    ) throws(BondError) {
        let (secret, place) = (try files.secret(), files.path(of: .bonds))
        let octets = BondFile.encode(state, secret).bytes
        guard octets.count <= BondFile.maximumSize else { throw .tooLarge(place: place) }
        // Ensures that the file can be decoded again.
        guard (try? BondFile.decode(PacketBuffer(octets), secret)) == state else {
            throw .system(place: place, doing: "written", reason: "a value is out of its range")
        }
        try written.replace(with: number) { () throws(BondError) in try files.replace(.bonds, octets) }
    }

    /// Derives octets from the secret of this host, which is created if necessary.
    package func derive(_ purpose: String) throws(BondError) -> [UInt8]? {
        try files.secret().deriveForOthers(purpose)
    }

    private func readState(keepsDamaged: Bool) throws(BondError) -> StoredBonds? {
        let secret = try files.readSecret()
        guard let octets = try files.read(.bonds) else { return nil }
        do throws(SealedFileError) {
            return try BondFile.decode(PacketBuffer(octets), secret)
        } catch {
            switch error {
            case .unknownVersion(let version): throw .unknownVersion(place: place, version)
            case .foreign: throw .foreign(place: place, secret: files.path(of: .secret))
            case .damaged(let reason):
                throw .damaged(place: place, reason: reason, backup: keepsDamaged ? files.backUp(.bonds) : nil)
            }
        }
    }
}
