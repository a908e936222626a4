import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that a program writes at a path which its user named.
///
/// The directory may be one that others prepared. The file is therefore created anew, never through a symbolic link nor
/// into a pipe or device. An existing file is replaced if it is a regular file of this user, and never overwritten,
/// because another process may have it open or use it by another name (AB-F02).
package final class OutputFile: Sendable {
    /// When the file is at its path.
    package enum Appearance: Sendable {
        /// From the beginning, so that it can be read while it grows. Only its user can read it.
        case atOnce
        /// From ``OutputFile/finish()`` on. Until then the path has its earlier file, which an error leaves alone.
        case whenFinished
    }

    /// Why a file cannot be written.
    package struct Failure: Error, Hashable, Sendable {
        package enum Fault: Hashable, Sendable {
            /// A system call failed with this `errno`.
            case system(Int32)
            /// The path names a symbolic link or something else that is not a regular file.
            case notAFile
            /// The existing file belongs to another user.
            case notOurs
            /// The program reads the file that it would replace.
            case isInput
        }

        package let path: String
        package let fault: Fault

        package init(_ path: String, _ fault: Fault) {
            (self.path, self.fault) = (path, fault)
        }
    }

    /// The attempts to find a name that no other process takes first.
    private static let attempts = 3
    /// The permissions of a finished file that replaces none, less those of the umask.
    private static let permissions: mode_t = 0o666

    private let path: String
    /// The file that becomes the one at ``path``; nil if it is there already.
    private let draft: String?
    private let file: Int32
    private let isFinished = Atomic(false)

    /// Creates the file.
    ///
    /// - Parameter inputs: The files that the program reads, none of which may be replaced.
    /// - Throws: ``Failure`` if the file cannot be created, or an existing one may not be replaced.
    package init(_ path: String, appears appearance: Appearance, reading inputs: [String] = []) throws(Failure) {
        self.path = path
        try Self.refuse(inputs, at: path)
        switch appearance {
        case .atOnce: (file, draft) = (try Self.replacing(path), nil)
        case .whenFinished:
            _ = try Self.replaced(path)
            let made = try Self.drafted(beside: path)
            (file, draft) = (made.file, made.path)
        }
    }

    deinit {
        _ = systemClose(file)
        if let draft, !isFinished.load(ordering: .relaxed) { _ = unlink(draft) }
    }

    /// Writes a file at once, or leaves the earlier one alone.
    package static func write(_ octets: [UInt8], to path: String, reading inputs: [String] = []) throws(Failure) {
        let file = try OutputFile(path, appears: .whenFinished, reading: inputs)
        try file.write(octets)
        try file.finish()
    }

    /// Checks whether a file could be written, so that a wrong path fails before long work and not after it.
    package static func check(_ path: String, reading inputs: [String] = []) throws(Failure) {
        try refuse(inputs, at: path)
        _ = try replaced(path)
        guard access(directory(of: path), W_OK | X_OK) == 0 else { throw Failure(path, .system(errno)) }
    }

    /// Appends octets, all of them or as many as the disk has room for.
    package func write(_ octets: [UInt8]) throws(Failure) {
        var rest = octets[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { throw Failure(path, .system(errno)) }
            rest = rest.dropFirst(max(written, 0))
        }
    }

    /// Puts the file at its path, with the permissions of the one that it replaces.
    package func finish() throws(Failure) {
        guard let draft else { return }
        if let earlier = try Self.replaced(path) { _ = fchmod(file, earlier & 0o7777) }
        // Replaces a link that has appeared meanwhile, and does not follow it.
        guard rename(draft, path) == 0 else { throw Failure(path, .system(errno)) }
        isFinished.store(true, ordering: .relaxed)
    }

    // MARK: Creation

    /// Refuses a path that names one of these files, be it by another name or through links.
    private static func refuse(_ inputs: [String], at path: String) throws(Failure) {
        var (own, input) = (stat(), stat())
        guard stat(path, &own) == 0 else { return }
        for each in inputs where stat(each, &input) == 0 && own.st_dev == input.st_dev && own.st_ino == input.st_ino {
            throw Failure(path, .isInput)
        }
    }

    private static func replacing(_ path: String) throws(Failure) -> Int32 {
        for _ in 0..<attempts {
            let file = systemCreate(path, 0o600)
            guard file < 0 else { return file }
            guard errno == EEXIST else { throw Failure(path, .system(errno)) }
            guard try replaced(path) != nil else { continue }
            guard unlink(path) == 0 || errno == ENOENT else { throw Failure(path, .system(errno)) }
        }
        throw Failure(path, .system(EEXIST))
    }

    private static func drafted(beside path: String) throws(Failure) -> (file: Int32, path: String) {
        for _ in 0..<attempts {
            let number = String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let draft = "\(directory(of: path))/.harald-\(number)"
            let file = systemCreate(draft, permissions)
            guard file < 0 else { return (file, draft) }
            guard errno == EEXIST else { throw Failure(path, .system(errno)) }
        }
        throw Failure(path, .system(EEXIST))
    }

    /// Returns the permissions of the file that may be replaced: a regular file that the user owns. Returns nil if
    /// there is none.
    private static func replaced(_ path: String) throws(Failure) -> mode_t? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path, .system(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(path, .notAFile) }
        guard status.st_uid == geteuid() else { throw Failure(path, .notOurs) }
        return status.st_mode
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension OutputFile.Failure: CustomStringConvertible {
    /// The path, the cause, and what to do about it.
    package var description: String { "cannot write \(path): \(reason)" }

    /// The cause and what to do about it, without the path.
    package var reason: String {
        switch fault {
        case .system(let code):
            "\(String(cString: strerror(code))); choose a file in a folder that exists and is writable"
        case .notAFile: "the path is a symbolic link or not a regular file; remove it or choose another path"
        case .notOurs: "the existing file belongs to another user; choose another path"
        case .isInput: "it is a file that this command reads; choose another path"
        }
    }
}

/// With `O_EXCL` a symbolic link counts as an existing file, whatever its target.
private func systemCreate(_ path: String, _ permissions: mode_t) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions)
}

private func systemWrite(_ file: Int32, _ octets: UnsafeRawPointer?, _ count: Int) -> Int { write(file, octets, count) }
private func systemClose(_ file: Int32) -> Int32 { close(file) }
