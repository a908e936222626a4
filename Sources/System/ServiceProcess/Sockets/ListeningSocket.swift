import CLinux
import Foundation

/// A Unix socket that is bound to a path, and not listening yet. Its owner holds a lock file beside it for as long as
/// the process runs. The lock distinguishes the abandoned socket of a dead service from one that is in use.
package struct ListeningSocket {
    /// The reason why the socket cannot be bound.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// The descriptor of the bound socket, owned by the caller.
    package let descriptor: Int32
    private let lock: Int32

    /// Binds a socket. If its directory does not exist, it is created for this user alone.
    ///
    /// - Parameters:
    ///   - mode: The permission bits of the socket, which determine who may connect.
    ///   - group: The group of the socket; nil for that of the process.
    package init(path: String, mode: UInt32, group: UInt32?) throws(Failure) {
        guard sockaddr_un(path: path) != nil else {
            throw Failure("\(path) is too long for a socket; choose a shorter path with --socket")
        }
        let directory = Self.directory(of: path)
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw Self.failure("cannot create the directory of \(path)")
        }
        // A user who can rename entries on the path could replace the socket and impersonate the service.
        if let fault = PathTrust.fault(on: directory, owners: [0, geteuid()]) {
            throw Failure("\(path) is not safe to listen at: \(fault), or choose another path with --socket")
        }
        lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard lock >= 0 else { throw Self.failure("cannot open \(path).lock") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Failure("another service is using \(path); end it, or choose another path with --socket")
        }
        do throws(Failure) {
            descriptor = try Self.bind(path, mode, group)
        } catch {
            close(lock)
            throw error
        }
    }

    /// Returns the directory of a path.
    ///
    /// `NSString` has a method for this, which traps for a relative path of one character (Swift 6.3 on Linux).
    static func directory(of path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().relativePath
    }

    private static func bind(_ path: String, _ mode: UInt32, _ group: UInt32?) throws(Failure) -> Int32 {
        guard var address = sockaddr_un(path: path) else { throw Failure("\(path) is not a valid socket path") }
        try removeRest(at: path)
        let descriptor = socket(AF_UNIX, harald_SOCK_STREAM | harald_SOCK_CLOEXEC, 0)
        guard descriptor >= 0 else { throw failure("cannot create a socket") }
        // On Linux the file is created with the permission bits of the socket, so no other user can connect before the
        // final bits are set. umask(2) would affect the whole process.
        _ = fchmod(descriptor, 0o600)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bindSocket(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound else {
            defer { close(descriptor) }
            throw failure("cannot bind \(path)")
        }
        guard chown(path, uid_t.max, group ?? gid_t.max) == 0, chmod(path, mode_t(mode)) == 0 else {
            defer { close(descriptor) }
            throw failure("cannot set the group and mode of \(path)")
        }
        return descriptor
    }

    /// Removes the socket of a service of this user that has ended. The lock is held, so no other service is about to
    /// listen there.
    private static func removeRest(at path: String) throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("cannot examine \(path)") }
            return
        }
        let advice = "remove it if it is not needed, or choose another path with --socket"
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Failure("\(path) exists and is not a socket; \(advice)")
        }
        guard status.st_uid == geteuid() else {
            throw Failure("\(path) is a socket of user \(status.st_uid); \(advice)")
        }
        guard ServicePath.isAbandoned(path) else {
            throw Failure("another program is listening at \(path); end it, or choose another path with --socket")
        }
        guard unlink(path) == 0 else { throw failure("cannot remove the abandoned socket \(path)") }
    }

    private static func failure(_ what: String) -> Failure {
        Failure("\(what): \(String(cString: strerror(errno)))")
    }
}

/// `bind(2)`, for use in ``ListeningSocket``, which has a method of the same name.
private func bindSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    bind(descriptor, address, size)
}
