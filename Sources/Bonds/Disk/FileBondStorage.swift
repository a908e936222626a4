import BluetoothTypes

/// Bonds in a file of a directory that nobody else may enter.
///
/// A new file is written beside the old one, made durable, and then given its name: whoever ends the process or the power
/// finds the old state or the new one. A file that others could have read or made, or that is not as it was written, is
/// not used and not touched (AB-G06).
///
/// The name goes from file to file, so a key that is forgotten is gone from the store, but a disk may still hold it.
public final class FileBondStorage: BondStorage {
    /// Second names for damaged files, at most.
    static let maximumBackups = 9

    private static let name = "bonds"
    private static let newName = "bonds.new"

    private let directory: any BondDirectory

    /// Opens a directory for this object alone, for as long as it lives; makes it when it is not there.
    ///
    /// - Throws: ``BondError/inUse(place:)`` while another process has it, ``BondError/exposed(place:_:)`` when others
    ///   may enter it, or why it cannot be opened.
    public convenience init(directory path: String) throws(BondError) {
        self.init(directory: try PosixBondDirectory(path))
    }

    /// Keeps bonds in `directory`.
    package init(directory: any BondDirectory) {
        self.directory = directory
    }

    /// The file.
    public var place: String { path(of: Self.name) }

    /// What was saved last; nil when nothing was.
    public func load() throws(BondError) -> StoredBonds? {
        // Whoever was writing it is gone.
        try perform("removed", Self.newName) { () throws(SystemError) in try removeIfThere(Self.newName) }
        guard let octets = try read() else { return nil }
        do throws(BondFileError) {
            return try BondFile.decode(PacketBuffer(octets))
        } catch {
            switch error {
            case .unknownVersion(let version): throw .unknownVersion(place: place, version)
            case .damaged(let reason): throw .damaged(place: place, reason: reason, backup: backUp())
            }
        }
    }

    /// Replaces the file. The new one is durable when this returns.
    public func save(_ state: StoredBonds) throws(BondError) {
        let octets = BondFile.encode(state).bytes
        guard octets.count <= BondFile.maximumSize else { throw .tooLarge(place: place) }
        // Nothing is written that could not be read again.
        guard (try? BondFile.decode(PacketBuffer(octets))) == state else {
            throw .system(place: place, doing: "written", reason: "a value is out of its range")
        }
        do throws(BondError) {
            try perform("written", Self.newName) { () throws(SystemError) in try writeNew(octets) }
            try perform("replaced", Self.name) { () throws(SystemError) in
                try directory.rename(Self.newName, to: Self.name)
                try directory.synchronize()
            }
        } catch {
            try? removeIfThere(Self.newName)
            throw error
        }
    }

    private func writeNew(_ octets: [UInt8]) throws(SystemError) {
        try removeIfThere(Self.newName)
        let file = try directory.create(Self.newName)
        defer { directory.close(file) }
        var left = octets[...]
        while !left.isEmpty { left = left.dropFirst(try directory.write(left, to: file)) }
        try directory.synchronize(file)
    }

    private func read() throws(BondError) -> [UInt8]? {
        let opened: (file: Int32, status: FileStatus)?
        do throws(SystemError) {
            opened = try directory.open(Self.name)
        } catch {
            if error == .isLink { throw .exposed(place: place, .symbolicLink) }
            throw .system(place: place, doing: "opened", reason: "\(error)")
        }
        guard let (file, status) = opened else { return nil }
        defer { directory.close(file) }
        if let exposure = status.exposure(to: directory.user) { throw .exposed(place: place, exposure) }
        guard status.size <= BondFile.maximumSize else { throw .tooLarge(place: place) }
        return try perform("read", Self.name) { () throws(SystemError) in
            var octets: [UInt8] = []
            // It may have grown since; one octet more is too many then.
            while octets.count <= BondFile.maximumSize {
                let more = try directory.read(file, atMost: max(status.size - octets.count, 0) + 1)
                if more.isEmpty { break }
                octets += more
            }
            return octets
        }
    }

    /// Gives a damaged file a second name, so that it is not lost when a person puts another one in its place. The first
    /// name stays: with it gone, the next start would begin with no bonds.
    private func backUp() -> String? {
        for number in 1...Self.maximumBackups {
            let name = "\(Self.name).damaged-\(number)"
            do throws(SystemError) {
                try directory.link(Self.name, as: name)
                try directory.synchronize()
                return path(of: name)
            } catch {
                guard error == .exists else { return nil }
                if isSame(Self.name, name) { return path(of: name) }
            }
        }
        return nil
    }

    private func isSame(_ name: String, _ other: String) -> Bool {
        let numbers = [name, other].map { name in
            let opened = try? directory.open(name)
            if let opened { directory.close(opened.file) }
            return opened?.status.number
        }
        return numbers[0] != nil && numbers[0] == numbers[1]
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
