import BluetoothTypes
import EventLoops
import Synchronization

/// Bonds in a file of a directory that nobody else may enter, beside the secret of this host that seals it (``HostDirectory``).
///
/// A file that others could have read or made, or that is not as this host wrote it, is not used and not touched (AB-G06).
///
/// The name goes from file to file, so a key that is forgotten is gone from the store, but a disk may still hold it.
package final class FileBondStorage: BondStorage {
    private let files: HostDirectory
    private let writer: DiskWriter?
    /// The number of the newest state in the file. One at a time writes it.
    private let written = Written()
    private var lastNumber: UInt64 = 0
    /// Other things that are kept in the same directory.
    package let records: any RecordStorage

    /// Opens a directory for this object alone, for as long as it lives; makes it when it is not there.
    ///
    /// - Parameter random: makes the secret of this host, once.
    /// - Throws: ``BondError/inUse(place:)`` while another process has it, ``BondError/exposed(place:_:)`` when others
    ///   may enter it, or why it cannot be opened.
    package convenience init(directory path: String, random: RandomSource) throws(BondError) {
        self.init(changing: try PosixBondDirectory(path), random: random)
    }

    /// Keeps bonds in `directory`, and records too: those are written on a thread of their own where that is asked for
    /// (``RecordStorage/change(_:_:on:completion:)``).
    package init(changing directory: any BondDirectory & Sendable, random: RandomSource) {
        let writer = DiskWriter(directory)
        files = HostDirectory(directory, random: random)
        records = FileRecordStorage(files, writer: writer)
        self.writer = writer
    }

    /// Keeps bonds in `directory`, and everything on the caller's thread.
    package init(directory: any BondDirectory, random: RandomSource) {
        files = HostDirectory(directory, random: random)
        records = FileRecordStorage(files)
        writer = nil
    }

    /// What is kept in a directory at this moment, whoever has it open, to be looked at: nothing is changed there. Files are
    /// replaced as a whole, so it is a state that was saved. Nil when nothing was.
    package static func look(into path: String) throws(BondError) -> StoredBonds? {
        let directory = try PosixBondDirectory(path, isToChange: false)
        return try FileBondStorage(directory: directory, random: RandomSource()).readState(keepsDamaged: false)
    }

    /// The file.
    package var place: String { files.path(of: .bonds) }

    /// What was saved last; nil when nothing was.
    package func load() throws(BondError) -> StoredBonds? {
        // Whoever was writing them is gone.
        for file in [HostDirectory.File.bonds, .secret] { try files.removeRest(of: file) }
        return try readState(keepsDamaged: true)
    }

    /// Replaces the file. The new one is durable when this returns.
    package func save(_ state: StoredBonds) throws(BondError) {
        _ = try files.secret()
        try Self.write(state, number: nextNumber(), written, to: files)
    }

    /// Replaces the file on another thread, unless a newer state is in it by then.
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

    private final class Written: Sendable {
        let number = Mutex<UInt64>(0)
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
        // Nothing is written that could not be read again.
        guard (try? BondFile.decode(PacketBuffer(octets), secret)) == state else {
            throw .system(place: place, doing: "written", reason: "a value is out of its range")
        }
        try written.number.withLock { last throws(BondError) in
            guard number > last else { return }
            try files.replace(.bonds, octets)
            last = number
        }
    }

    /// Octets that follow from the secret of this host, which is made if there is none.
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
