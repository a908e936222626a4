import Foundation
import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A Unix socket that is bound to a path, before anybody listens there. Its owner has the lock beside it for as long as the process runs, so
/// that a socket that a dead service has left is told from one that is in use.
package struct ListeningSocket {
    /// Why there is none.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        package let description: String

        /// What happened, and what to do.
        package init(_ description: String) {
            self.description = description
        }
    }

    /// What was bound.
    package let descriptor: Int32
    private let lock: Int32

    /// Binds a socket in a directory, which is made for this user alone if there is none.
    ///
    /// - Parameters:
    ///   - mode: Who may connect, as permission bits of the socket.
    ///   - group: The group that the socket belongs to; nil for that of the process.
    package init(path: String, mode: UInt32, group: UInt32?) throws(Failure) {
        guard sockaddr_un(path: path) != nil else {
            throw Failure("\(path) is too long for a socket; choose a shorter path with --socket")
        }
        let above = (path as NSString).deletingLastPathComponent
        let directory = above.isEmpty ? "." : above
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw Self.failure("the directory of \(path) cannot be made")
        }
        // Whoever can rename what is in one of them can put a socket of his own there, and be taken for the service.
        if let fault = PathTrust.fault(on: directory, owners: [0, geteuid()]) {
            throw Failure("\(path) is not safe to listen at: \(fault), or choose another path with --socket")
        }
        lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard lock >= 0 else { throw Self.failure("\(path).lock cannot be opened") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Failure("another service has \(path) already; end that one, or choose another path with --socket")
        }
        do throws(Failure) {
            descriptor = try Self.bind(path, mode, group)
        } catch {
            close(lock)
            throw error
        }
    }

    private static func bind(_ path: String, _ mode: UInt32, _ group: UInt32?) throws(Failure) -> Int32 {
        guard var address = sockaddr_un(path: path) else { throw Failure("\(path) is no path of a socket") }
        try removeRest(at: path)
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw failure("no socket can be made") }
        // Nobody connects between its making and the bits that are asked for: Linux makes the file with those of the socket. Not umask(2),
        // which is for the whole process.
        _ = fchmod(descriptor, 0o600)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bindSocket(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound else {
            defer { close(descriptor) }
            throw failure("\(path) cannot be bound")
        }
        guard chown(path, uid_t.max, group ?? gid_t.max) == 0, chmod(path, mode_t(mode)) == 0 else {
            defer { close(descriptor) }
            throw failure("\(path) cannot be given to its group")
        }
        return descriptor
    }

    /// Removes the socket that a service of this user has left. The lock is held, so no other service is about to listen there.
    private static func removeRest(at path: String) throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("\(path) cannot be looked at") }
            return
        }
        let advice = "remove it yourself if nobody needs it, or choose another path with --socket"
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Failure("\(path) is there, and is no socket; \(advice)")
        }
        guard status.st_uid == geteuid() else {
            throw Failure("\(path) is a socket of user \(status.st_uid); \(advice)")
        }
        guard ServicePath.isAbandoned(path) else {
            throw Failure("another program listens at \(path); end that one, or choose another path with --socket")
        }
        guard unlink(path) == 0 else { throw failure("\(path), which a service has left, cannot be removed") }
    }

    private static func failure(_ what: String) -> Failure {
        Failure("\(what): \(String(cString: strerror(errno)))")
    }
}

/// `bind(2)`, which ``ListeningSocket`` has a method of the same name beside.
private func bindSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    bind(descriptor, address, size)
}
