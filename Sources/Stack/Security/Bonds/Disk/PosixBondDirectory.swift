#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A directory on the disk that only the user may enter. If it is to be changed, it is locked for as long as this
/// object exists. Thread-safe.
package final class PosixBondDirectory: BondDirectory, Sendable {
    package let path: String
    package let user: UInt32 = geteuid()

    private static let lockName = "lock"

    private let directory: Int32
    private let lock: Int32?

    /// Opens the directory. If it is to be changed, creates it first if necessary, with the directories above it.
    package init(_ path: String, isToChange: Bool = true) throws(BondError) {
        // With a trailing slash, a symbolic link would be followed.
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        if isToChange { try Self.make(self.path) }
        let (path, user) = (self.path, self.user)
        let directory = try Self.open(path)
        self.directory = directory
        lock = try Self.keep(directory) { () throws(BondError) in
            try Self.check(directory, path: path, user: user)
            return isToChange ? try Self.lock(directory, path: path) : nil
        }
    }

    deinit {
        if let lock { Self.close(lock) }
        Self.close(directory)
    }

    package func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)? {
        do throws(SystemError) {
            // Non-blocking, in case the file is a pipe.
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            let file = try SystemError.check { () -> Int32 in openat(directory, name, flags) }
            return try Self.keep(file) { () throws(SystemError) in (file, try Self.status(of: file)) }
        } catch {
            guard error == .notThere else { throw error }
            return nil
        }
    }

    package func create(_ name: String) throws(SystemError) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        return try SystemError.check { () -> Int32 in openat(directory, name, flags, 0o600) }
    }

    package func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        let length = try SystemError.check { () -> Int in
            octets.withUnsafeMutableBytes { systemRead(file, $0.baseAddress, $0.count) }
        }
        return Array(octets.prefix(length))
    }

    package func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
        try SystemError.check { () -> Int in
            octets.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
        }
    }

    package func synchronize(_ file: Int32) throws(SystemError) {
        _ = try SystemError.check { () -> Int32 in fsync(file) }
    }

    package func close(_ file: Int32) { Self.close(file) }

    package func rename(_ name: String, to other: String) throws(SystemError) {
        _ = try SystemError.check { () -> Int32 in renameat(directory, name, directory, other) }
    }

    package func link(_ name: String, as other: String) throws(SystemError) {
        _ = try SystemError.check { () -> Int32 in linkat(directory, name, directory, other, 0) }
    }

    package func remove(_ name: String) throws(SystemError) {
        _ = try SystemError.check { () -> Int32 in unlinkat(directory, name, 0) }
    }

    package func synchronize() throws(SystemError) {
        _ = try SystemError.check { () -> Int32 in fsync(directory) }
    }
}

extension PosixBondDirectory {
    private static func close(_ file: Int32) { _ = systemClose(file) }

    /// Returns the result of `body` for an open file, and closes the file if `body` throws.
    private static func keep<Result, Failure: Error>(
        _ file: Int32,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(Failure) {
            return try body()
        } catch {
            close(file)
            throw error
        }
    }

    package static func status(of file: Int32) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try SystemError.check { () -> Int32 in fstat(file, &status) }
        return FileStatus(
            isRegular: status.st_mode & S_IFMT == S_IFREG,
            owner: status.st_uid,
            permissions: UInt32(status.st_mode & 0o7777),
            size: Int(status.st_size),
            number: UInt64(status.st_ino)
        )
    }

    /// Creates the missing directories from the top. mkdir(2) reports those that exist. Each is durable before the next
    /// one is created.
    private static func make(_ path: String) throws(BondError) {
        let above = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if !above.isEmpty, above != "." { try make(above) }
        do throws(SystemError) {
            _ = try SystemError.check { () -> Int32 in mkdir(path, 0o700) }
            let directory = try SystemError.check { () -> Int32 in
                systemOpen(above + "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            }
            defer { close(directory) }
            _ = try SystemError.check { () -> Int32 in fsync(directory) }
        } catch {
            // Something else with that name, or a broken link, is detected when the directory is opened.
            if error != .exists { throw .system(place: path, doing: "created", reason: "\(error)") }
        }
    }

    private static func open(_ path: String) throws(BondError) -> Int32 {
        do throws(SystemError) {
            return try SystemError.check { () -> Int32 in
                systemOpen(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
        } catch {
            // Some systems report that a link is not a directory. If there is nothing, all bits stay clear.
            var status = stat()
            lstat(path, &status)
            if status.st_mode & S_IFMT == S_IFLNK { throw .exposed(place: path, .symbolicLink) }
            throw .system(place: path, doing: "opened", reason: "\(error)")
        }
    }

    private static func check(_ directory: Int32, path: String, user: UInt32) throws(BondError) {
        var exposure: BondError.Exposure?
        do throws(SystemError) {
            var status = try status(of: directory)
            status.isRegular = true
            exposure = status.exposure(to: user)
        } catch {
            throw .system(place: path, doing: "opened", reason: "\(error)")
        }
        if let exposure { throw .exposed(place: path, exposure) }
    }

    /// Locks the directory. The lock ends with the process, even after a crash.
    private static func lock(_ directory: Int32, path: String) throws(BondError) -> Int32 {
        let place = "\(path)/\(lockName)"
        let lock: Int32
        do throws(SystemError) {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            lock = try SystemError.check { () -> Int32 in openat(directory, lockName, flags, 0o600) }
        } catch {
            if error == .isLink { throw .exposed(place: place, .symbolicLink) }
            throw .system(place: place, doing: "opened", reason: "\(error)")
        }
        return try keep(lock) { () throws(BondError) in
            do throws(SystemError) {
                _ = try SystemError.check { () -> Int32 in flock(lock, LOCK_EX | LOCK_NB) }
                return lock
            } catch {
                if error.code == EWOULDBLOCK { throw .inUse(place: path) }
                throw .system(place: place, doing: "locked", reason: "\(error)")
            }
        }
    }
}

// Aliases of functions that the methods of the same name hide.
private let systemRead = read
private let systemWrite = write
private let systemClose: @Sendable (Int32) -> Int32 = { close($0) }

private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
