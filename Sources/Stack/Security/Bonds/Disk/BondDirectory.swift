/// The system calls on one directory that storing bonds requires. Each function that changes something corresponds to
/// one call. Tests substitute a directory that fails at any of them, or that loses what was not made durable.
package protocol BondDirectory: AnyObject {
    /// The path of the directory, for people to read.
    var path: String { get }
    /// The user who has to own the directory and its files.
    var user: UInt32 { get }

    /// Opens a file for reading, without following a link; nil if it does not exist.
    func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)?
    /// Creates a file that only the user may read, and opens it for writing. Fails if it exists.
    func create(_ name: String) throws(SystemError) -> Int32
    /// Reads the next octets; empty at the end of the file.
    func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8]
    /// Writes octets, or as many of them as the system accepts. Returns their number.
    func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int
    /// Makes the content of a file durable.
    func synchronize(_ file: Int32) throws(SystemError)
    func close(_ file: Int32)
    /// Renames a file, replacing the one with the new name.
    func rename(_ name: String, to other: String) throws(SystemError)
    /// Gives a file a second name. Fails if that name exists.
    func link(_ name: String, as other: String) throws(SystemError)
    func remove(_ name: String) throws(SystemError)
    /// Makes the names in the directory durable.
    func synchronize() throws(SystemError)
}

/// The properties of a file that the system reports.
package struct FileStatus: Hashable, Sendable {
    package var isRegular: Bool
    package var owner: UInt32
    /// The permission bits of the file, at most octal 7777.
    package var permissions: UInt32
    /// The size in octets.
    package var size: Int
    /// The inode number, which all names of one file share.
    package var number: UInt64

    package init(isRegular: Bool = true, owner: UInt32, permissions: UInt32, size: Int, number: UInt64) {
        self.isRegular = isRegular
        self.owner = owner
        self.permissions = permissions
        self.size = size
        self.number = number
    }

    /// The reason why the content of the file may be neither authentic nor secret; nil if it is both.
    func exposure(to user: UInt32) -> BondError.Exposure? {
        if !isRegular { return .wrongKind }
        if owner != user { return .otherOwner(owner) }
        return permissions & 0o077 == 0 ? nil : .permissions(permissions)
    }
}
