import BluetoothTypes
import EventLoops

/// The files of a directory that this host alone reads and writes, with the secret that seals them.
///
/// A new file is written beside the old one, made durable, and then given its name: whoever ends the process or the power
/// finds the old content or the new one. A file that others could have read or made is not read (AB-G06).
final class HostDirectory {
    /// A file, and the name that its successor has while it is being written.
    struct File: Hashable {
        static let bonds = File(name: "bonds", maximumSize: BondFile.maximumSize, maximumBackups: 9)
        static let secret = File(name: "secret", maximumSize: HostSecret.fileSize, maximumBackups: 0)

        let name: String
        let maximumSize: Int
        /// Second names for damaged ones, at most.
        let maximumBackups: Int
        var newName: String { "\(name).new" }
    }

    private let directory: any BondDirectory
    private let random: RandomSource?

    /// - Parameter random: makes the secret of this host, once; without it the secret has to be there.
    init(_ directory: any BondDirectory, random: RandomSource? = nil) {
        self.directory = directory
        self.random = random
    }

    /// Where a file is, for a person.
    func path(of file: File) -> String { path(of: file.name) }

    private func path(of name: String) -> String { "\(directory.path)/\(name)" }

    // MARK: The secret

    /// The secret. A new one is durable before anything is sealed with it.
    func secret() throws(BondError) -> HostSecret {
        if let secret = try readSecret() { return secret }
        guard let random else {
            throw .system(place: path(of: .secret), doing: "read", reason: "it was removed")
        }
        // The file of bonds that is there stays good until it is replaced, wherever this ends.
        let old = try read(.bonds).flatMap { BondFile.checksumOfVersion1(PacketBuffer($0)) }
        let made = HostSecret(random: random, predecessor: old)
        try replace(.secret, made.file)
        return made
    }

    /// The secret, if there is one.
    func readSecret() throws(BondError) -> HostSecret? {
        guard let octets = try read(.secret) else { return nil }
        guard let secret = HostSecret(file: octets) else {
            throw .damaged(place: path(of: .secret), reason: "it has \(octets.count) octets", backup: nil)
        }
        return secret
    }

    // MARK: Files

    /// Removes what somebody was writing who is gone.
    func removeRest(of file: File) throws(BondError) {
        try perform("removed", file.newName) { () throws(SystemError) in _ = try removeIfThere(file.newName) }
    }

    /// The octets of a file; nil when there is none.
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
            // It may have grown since, and is not what was written then; one octet more shows that.
            while octets.count <= status.size {
                let more = try directory.read(handle, atMost: status.size + 1 - octets.count)
                if more.isEmpty { break }
                octets += more
            }
            return octets
        }
    }

    /// Puts octets in place of a file, if there is one. They are durable when this returns.
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

    /// Removes a file, if there is one. It does not come back when this has returned.
    func remove(_ file: File) throws(BondError) {
        try perform("removed", file.name) { () throws(SystemError) in
            if try removeIfThere(file.name) { try directory.synchronize() }
        }
    }

    /// Gives a damaged file a second name, so that it is not lost when another one takes its place. The first name stays: with it
    /// gone, the next start would begin with none.
    ///
    /// - Returns: Where it is also; nil when there are too many already.
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

    /// Whether it was there.
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
