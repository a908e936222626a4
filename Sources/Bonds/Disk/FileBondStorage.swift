import BluetoothTypes
import EventLoops

/// Bonds in a file of a directory that nobody else may enter, beside the secret of this host that seals it (``HostDirectory``).
///
/// A file that others could have read or made, or that is not as this host wrote it, is not used and not touched (AB-G06).
///
/// The name goes from file to file, so a key that is forgotten is gone from the store, but a disk may still hold it.
package final class FileBondStorage: BondStorage {
    private let files: HostDirectory
    /// Other things that are kept in the same directory.
    package let records: any RecordStorage

    /// Opens a directory for this object alone, for as long as it lives; makes it when it is not there.
    ///
    /// - Parameter random: makes the secret of this host, once.
    /// - Throws: ``BondError/inUse(place:)`` while another process has it, ``BondError/exposed(place:_:)`` when others
    ///   may enter it, or why it cannot be opened.
    package convenience init(directory path: String, random: RandomSource) throws(BondError) {
        self.init(directory: try PosixBondDirectory(path), random: random)
    }

    /// Keeps bonds in `directory`.
    package init(directory: any BondDirectory, random: RandomSource) {
        files = HostDirectory(directory, random: random)
        records = FileRecordStorage(files)
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
        let secret = try files.secret()
        let octets = BondFile.encode(state, secret).bytes
        guard octets.count <= BondFile.maximumSize else { throw .tooLarge(place: place) }
        // Nothing is written that could not be read again.
        guard (try? BondFile.decode(PacketBuffer(octets), secret)) == state else {
            throw .system(place: place, doing: "written", reason: "a value is out of its range")
        }
        try files.replace(.bonds, octets)
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
