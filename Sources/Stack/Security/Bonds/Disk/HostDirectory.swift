import BluetoothTypes
import EventLoops

/// The files of a directory that only this host reads and writes, and the secret that seals them.
///
/// A file is replaced atomically: its successor is written beside it, made durable, and renamed. After a crash or power
/// failure, the file has either its old or its new content. A file that other users could have read or written is
/// refused (AB-G06).
final class HostDirectory {
    /// The name and limits of a file.
    struct File: Hashable {
        static let bonds = File(name: "bonds", maximumSize: BondFile.maximumSize, maximumBackups: 9)
        static let secret = File(name: "secret", maximumSize: HostSecret.fileSize, maximumBackups: 0)

        let name: String
        let maximumSize: Int
        /// The maximum number of backups of damaged files.
        let maximumBackups: Int
        var newName: String { "\(name).new" }
    }

    private let directory: any BondDirectory
    private let random: RandomSource?

    /// - Parameter random: The source of this host's secret, which is created once. Without it, the secret has to
    ///   exist.
    init(_ directory: any BondDirectory, random: RandomSource? = nil) {
        self.directory = directory
        self.random = random
    }

    func path(of file: File) -> String { path(of: file.name) }

    private func path(of name: String) -> String { "\(directory.path)/\(name)" }

    // MARK: Secret

    /// The secret, created if necessary. A new one is durable before anything is sealed with it.
    func secret() throws(BondError) -> HostSecret {
        if let secret = try readSecret() { return secret }
        guard let random else {
            throw .system(place: path(of: .secret), doing: "read", reason: "it was removed")
        }
        // An existing file of bonds remains valid until it is replaced, even if the process ends before then.
        let old = try read(.bonds).flatMap { BondFile.checksumOfVersion1(PacketBuffer($0)) }
        let made = HostSecret(random: random, predecessor: old)
        try replace(.secret, made.file)
        return made
    }

    /// The secret; nil if there is none.
    func readSecret() throws(BondError) -> HostSecret? {
        guard let octets = try read(.secret) else { return nil }
        guard let secret = HostSecret(file: octets) else {
            throw .damaged(place: path(of: .secret), reason: "it has \(octets.count) octets", backup: nil)
        }
        return secret
    }

    // MARK: Files

    /// Removes a partly written successor that a process left behind.
    func removeRest(of file: File) throws(BondError) {
        try perform("removed", file.newName) { () throws(SystemError) in _ = try removeIfThere(file.newName) }
    }

    /// Reads a file; nil if it does not exist.
    func read(_ file: File) throws(BondError) -> [UInt8]? {
        let place = path(of: file)
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
            // Reads one octet beyond the size to detect a file that has grown since, and is not what was written.
            while octets.count <= status.size {
                let more = try directory.read(handle, atMost: status.size + 1 - octets.count)
                if more.isEmpty { break }
                octets += more
            }
            return octets
        }
    }

    /// Creates or replaces a file. The content is durable when this returns.
    func replace(_ file: File, _ octets: [UInt8]) throws(BondError) {
        do throws(BondError) {
            try perform("written", file.newName) { () throws(SystemError) in try write(octets, to: file.newName) }
            try perform("replaced", file.name) { () throws(SystemError) in
                try directory.rename(file.newName, to: file.name)
                try directory.synchronize()
            }
        } catch {
            _ = try? removeIfThere(file.newName)
            throw error
        }
    }

    /// Removes a file if it exists. The removal is durable when this returns.
    func remove(_ file: File) throws(BondError) {
        try perform("removed", file.name) { () throws(SystemError) in
            if try removeIfThere(file.name) { try directory.synchronize() }
        }
    }

    /// Gives a damaged file a second name, so that it is not lost when it is replaced. It also keeps its first name:
    /// otherwise the next start would begin with an empty store. Returns the path of the backup; nil if there are too
    /// many already.
    func backUp(_ file: File) -> String? {
        for number in 0..<file.maximumBackups {
            let name = "\(file.name).damaged-\(number + 1)"
            do throws(SystemError) {
                try directory.link(file.name, as: name)
                try directory.synchronize()
                return path(of: name)
            } catch {
                if isSame(file.name, name) { return path(of: name) }
            }
        }
        return nil
    }

    private func write(_ octets: [UInt8], to name: String) throws(SystemError) {
        _ = try removeIfThere(name)
        let file = try directory.create(name)
        defer { directory.close(file) }
        var left = octets[...]
        while !left.isEmpty { left = left.dropFirst(try directory.write(left, to: file)) }
        try directory.synchronize(file)
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

    /// Removes a file. Returns whether it existed.
    private func removeIfThere(_ name: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try directory.remove(name)
            return true
        } catch {
            if error != .notThere { throw error }
            return false
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
}
