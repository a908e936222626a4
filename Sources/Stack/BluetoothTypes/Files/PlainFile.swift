#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The contents of a file at a path that another user may control. Reading never blocks on a pipe or device in its
/// place (AB-F03).
package struct PlainFile: Hashable, Sendable {
    /// The reason why a file cannot be read.
    package enum Fault: Error, Hashable, CustomStringConvertible {
        case system(code: Int32)
        /// It is a pipe, a device, a directory or a socket rather than a regular file.
        case notPlain
        case tooLong(limit: Int)

        package var description: String {
            switch self {
            case .system(let code): String(cString: strerror(code))
            case .notPlain: "it is not a regular file"
            case .tooLong(let limit): "it is larger than \(limit) octets"
            }
        }
    }

    package let octets: [UInt8]
    package let owner: UInt32
    /// The permission bits of the file, at most octal 7777.
    package let permissions: UInt32

    /// Reads a file of at most `limit` octets. Blocks only for as long as its file system takes.
    ///
    /// - Parameter followsLink: Whether the path may be a symbolic link.
    package init(_ path: String, atMost limit: Int, followsLink: Bool = true) throws(Fault) {
        let file = try Self.open(path, followsLink: followsLink)
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .system(code: errno) }
        octets = try Self.contents(of: file, atMost: limit)
        owner = status.st_uid
        permissions = UInt32(status.st_mode & 0o7777)
    }

    /// Opens a regular file that is read piece by piece. The caller closes the descriptor.
    package static func open(_ path: String, followsLink: Bool = true) throws(Fault) -> Int32 {
        let file = systemOpen(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
        guard file >= 0 else { throw .system(code: errno) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw .notPlain
        }
        return file
    }

    private static func contents(of file: Int32, atMost limit: Int) throws(Fault) -> [UInt8] {
        var octets: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(code: errno) }
            guard count > 0 else { return octets }
            guard octets.count + count <= limit else { throw .tooLong(limit: limit) }
            octets += part[..<count]
        }
    }
}

private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
