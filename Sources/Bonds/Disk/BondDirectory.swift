/// The system calls that bonds on the disk need, on one directory: each function that changes something is one of them.
/// Tests put a directory in its place that stops at any of them, or forgets what was not made durable.
package protocol BondDirectory: AnyObject {
    /// Where it is, for a person.
    var path: String { get }
    /// The user that everything has to belong to.
    var user: UInt32 { get }

    /// Opens a file for reading, and does not follow a link; nil when there is none.
    func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)?
    /// Creates a file that only the user may read, which must not exist, and opens it for writing.
    func create(_ name: String) throws(SystemError) -> Int32
    /// Reads the next octets; none at the end.
    func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8]
    /// Writes octets, or as many from the front as the system takes now. Returns how many.
    func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int
    /// Makes durable what has been written.
    func synchronize(_ file: Int32) throws(SystemError)
    /// Ends the use of a file.
    func close(_ file: Int32)
    /// Gives a file another name, and takes that from the one that has it.
    func rename(_ name: String, to other: String) throws(SystemError)
    /// Gives a file a second name, which must not exist.
    func link(_ name: String, as other: String) throws(SystemError)
    /// Takes a name away.
    func remove(_ name: String) throws(SystemError)
    /// Makes durable which names there are.
    func synchronize() throws(SystemError)
}

/// What the system says of a file.
package struct FileStatus: Hashable, Sendable {
    /// Whether it is a plain file.
    package var isRegular: Bool
    /// The user that it belongs to.
    package var owner: UInt32
    /// Its permission bits.
    package var permissions: UInt32
    /// Octets.
    package var size: Int
    /// The same for all names of one file.
    package var number: UInt64

    /// The given values.
    package init(isRegular: Bool = true, owner: UInt32, permissions: UInt32, size: Int, number: UInt64) {
        self.isRegular = isRegular
        self.owner = owner
        self.permissions = permissions
        self.size = size
        self.number = number
    }

    /// Why what is in the file is neither trusted nor secret; nil when all is well.
    func exposure(to user: UInt32) -> BondError.Exposure? {
        if !isRegular { return .wrongKind }
        if owner != user { return .otherOwner(owner) }
        return permissions & 0o077 == 0 ? nil : .permissions(permissions)
    }
}
