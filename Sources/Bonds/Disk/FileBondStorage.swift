import BluetoothTypes
import EventLoops

/// Bonds in a file of a directory that nobody else may enter, beside the secret of this host that seals it.
///
/// A new file is written beside the old one, made durable, and then given its name: whoever ends the process or the power
/// finds the old state or the new one. A file that others could have read or made, or that is not as this host wrote it, is
/// not used and not touched (AB-G06).
///
/// The name goes from file to file, so a key that is forgotten is gone from the store, but a disk may still hold it.
package final class FileBondStorage: BondStorage {
    /// Second names for damaged files, at most.
    static let maximumBackups = 9

    /// A file, and the name that its successor has while it is being written.
    private struct File {
        static let bonds = File(name: "bonds", maximumSize: BondFile.maximumSize)
        static let secret = File(name: "secret", maximumSize: HostSecret.fileSize)

        let name: String
        let maximumSize: Int
        var newName: String { "\(name).new" }
    }

    private let directory: any BondDirectory
    private let random: RandomSource

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
        self.directory = directory
        self.random = random
    }

    /// What is kept in a directory at this moment, whoever has it open, to be looked at: nothing is changed there. Files are
    /// replaced as a whole, so it is a state that was saved. Nil when nothing was.
    package static func look(into path: String) throws(BondError) -> StoredBonds? {
        let directory = try PosixBondDirectory(path, isToChange: false)
        return try FileBondStorage(directory: directory, random: RandomSource()).readState(keepsDamaged: false)
    }

    /// The file.
    package var place: String { path(of: File.bonds.name) }

    /// What was saved last; nil when nothing was.
    package func load() throws(BondError) -> StoredBonds? {
        // Whoever was writing them is gone.
        for file in [File.bonds, .secret] {
            try perform("removed", file.newName) { () throws(SystemError) in try removeIfThere(file.newName) }
        }
        return try readState(keepsDamaged: true)
    }

    /// Replaces the file. The new one is durable when this returns.
    package func save(_ state: StoredBonds) throws(BondError) {
        let secret = try secret()
        let octets = BondFile.encode(state, secret).bytes
        guard octets.count <= BondFile.maximumSize else { throw .tooLarge(place: place) }
        // Nothing is written that could not be read again.
        guard (try? BondFile.decode(PacketBuffer(octets), secret)) == state else {
            throw .system(place: place, doing: "written", reason: "a value is out of its range")
        }
        try replace(.bonds, octets)
    }

    /// Octets that follow from the secret of this host, which is made if there is none.
    package func derive(_ purpose: String) throws(BondError) -> [UInt8]? {
        // Whatever the purpose, nothing that the secret is used for here.
        try secret().derive("derive \(purpose)")
    }

    // MARK: The secret

    /// The secret. A new one is durable before anything is sealed with it.
    private func secret() throws(BondError) -> HostSecret {
        if let secret = try readSecret() { return secret }
        // The file that is there stays good until it is replaced, wherever this ends.
        let old = try read(.bonds).flatMap { BondFile.checksumOfVersion1(PacketBuffer($0)) }
        let made = HostSecret(random: random, predecessor: old)
        try replace(.secret, made.file)
        return made
    }

    private func readSecret() throws(BondError) -> HostSecret? {
        guard let octets = try read(.secret) else { return nil }
        guard let secret = HostSecret(file: octets) else {
            let place = path(of: File.secret.name)
            throw .damaged(place: place, reason: "it has \(octets.count) octets", backup: nil)
        }
        return secret
    }

    // MARK: Files

    private func readState(keepsDamaged: Bool) throws(BondError) -> StoredBonds? {
        let secret = try readSecret()
        guard let octets = try read(.bonds) else { return nil }
        do throws(BondFileError) {
            return try BondFile.decode(PacketBuffer(octets), secret)
        } catch {
            switch error {
            case .unknownVersion(let version): throw .unknownVersion(place: place, version)
            case .foreign: throw .foreign(place: place, secret: path(of: File.secret.name))
            case .damaged(let reason):
                throw .damaged(place: place, reason: reason, backup: keepsDamaged ? backUp() : nil)
            }
        }
    }

    private func replace(_ file: File, _ octets: [UInt8]) throws(BondError) {
        do throws(BondError) {
            try perform("written", file.newName) { () throws(SystemError) in try write(octets, to: file.newName) }
            try perform("replaced", file.name) { () throws(SystemError) in
                try directory.rename(file.newName, to: file.name)
                try directory.synchronize()
            }
        } catch {
            try? removeIfThere(file.newName)
            throw error
        }
    }

    private func write(_ octets: [UInt8], to name: String) throws(SystemError) {
        try removeIfThere(name)
        let file = try directory.create(name)
        defer { directory.close(file) }
        var left = octets[...]
        while !left.isEmpty { left = left.dropFirst(try directory.write(left, to: file)) }
        try directory.synchronize(file)
    }

    private func read(_ file: File) throws(BondError) -> [UInt8]? {
        let place = path(of: file.name)
        let opened: (file: Int32, status: FileStatus)?
        do throws(SystemError) {
            opened = try directory.open(file.name)
        } catch {
            if error == .isLink { throw .exposed(place: place, .symbolicLink) }
            throw .system(place: place, doing: "opened", reason: "\(error)")
        }
        guard let (handle, status) = opened else { return nil }
        defer { directory.close(handle) }
        if let exposure = status.exposure(to: directory.user) { throw .exposed(place: place, exposure) }
        guard status.size <= file.maximumSize else {
            throw .damaged(place: place, reason: "it is longer than \(file.maximumSize) octets", backup: nil)
        }
        return try perform("read", file.name) { () throws(SystemError) in
            var octets: [UInt8] = []
            // It may have grown since, and is not what was written then; one octet more shows that.
            while octets.count <= status.size {
                let more = try directory.read(handle, atMost: status.size + 1 - octets.count)
                if more.isEmpty { break }
                octets += more
            }
            return octets
        }
    }

    /// Gives a damaged file a second name, so that it is not lost when a person puts another one in its place. The first
    /// name stays: with it gone, the next start would begin with no bonds.
    private func backUp() -> String? {
        let bonds = File.bonds.name
        for number in 1...Self.maximumBackups {
            let name = "\(bonds).damaged-\(number)"
            do throws(SystemError) {
                try directory.link(bonds, as: name)
                try directory.synchronize()
                return path(of: name)
            } catch {
                if isSame(bonds, name) { return path(of: name) }
            }
        }
        return nil
    }

    private func isSame(_ name: String, _ other: String) -> Bool {
        guard let number = number(of: name) else { return false }
        return number == self.number(of: other)
    }

    private func number(of name: String) -> UInt64? {
        guard let opened = try? directory.open(name) else { return nil }
        directory.close(opened.file)
        return opened.status.number
    }

    private func removeIfThere(_ name: String) throws(SystemError) {
        do throws(SystemError) {
            try directory.remove(name)
        } catch {
            if error != .notThere { throw error }
        }
    }

    private func perform<Result>(
        _ doing: String,
        _ name: String,
        _ body: () throws(SystemError) -> Result
    ) throws(BondError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .system(place: path(of: name), doing: doing, reason: "\(error)")
        }
    }

    private func path(of name: String) -> String { "\(directory.path)/\(name)" }
}
