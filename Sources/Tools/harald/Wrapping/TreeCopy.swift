import BluetoothTypes
import Foundation

#if canImport(CoreFoundation)
    // Beside the headers of CTool, the compiler takes stat(2) for a part of it.
    import CoreFoundation
#endif

/// A copy of a directory that strangers have made, in which nothing leads out of it (AB-T01).
///
/// The copy consists of new files and directories alone. A symbolic link becomes a copy of what it leads to, if that is
/// within the directory. Other links are refused, because what is written into the copy would change files outside of
/// it, and so are pipes, sockets and devices.
struct TreeCopy {
    /// The files and directories of a copy. Nested links multiply them.
    static let maximumEntries = 100_000
    /// The octets of a copy.
    static let maximumOctets = 4 << 30
    /// The directories above a file.
    static let maximumDepth = 64

    private struct Identity: Hashable {
        let device: dev_t
        let number: ino_t

        init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }
    }

    /// The original without links in its path.
    private let root: String
    private let copy: String
    /// The entries of the root that are left out.
    private let leftOut: Set<String>
    /// A directory within the original that is not copied, such as the one that the copy is in.
    private let apart: Identity?
    private let limit: Int
    private var entries = 0
    private var octets = 0

    /// Prepares a copy.
    ///
    /// - Parameters:
    ///   - copy: The path of the copy, which must not exist yet.
    ///   - names: The entries of the original that are left out.
    ///   - apart: A directory that is left out wherever it is.
    init(
        of path: String,
        to copy: String,
        without names: Set<String>,
        apart: String,
        atMost limit: Int = Self.maximumEntries
    ) throws(WrappingError) {
        guard let root = Self.resolved(path) else { throw Self.failure(path) }
        (self.root, self.copy, leftOut, self.limit) = (root, copy, names, limit)
        self.apart = (try? Self.status(apart, followsLink: true)).map(Identity.init)
    }

    /// Copies the directory. After an error, the copy is incomplete.
    mutating func make() throws(WrappingError) {
        let status = try Self.status(root, followsLink: false)
        try add(directory: root, status, as: "", within: [])
    }

    private mutating func add(
        directory: String,
        _ status: stat,
        as name: String,
        within parents: Set<Identity>
    ) throws(WrappingError) {
        let identity = Identity(status)
        guard identity != apart else { return }
        guard !parents.contains(identity) else { throw refusal(name, "leads to a directory that contains it") }
        guard parents.count < Self.maximumDepth else { throw refusal(name, "has too many directories above it") }
        guard mkdir(copy + name, 0o755) == 0 else { throw Self.failure(copy + name) }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw WrappingError("cannot read \(directory): \(error.localizedDescription)")
        }
        for entry in names.sorted() where !(parents.isEmpty && leftOut.contains(entry)) {
            try add("\(directory)/\(entry)", as: "\(name)/\(entry)", within: parents.union([identity]))
        }
    }

    private mutating func add(
        _ path: String,
        as name: String,
        within parents: Set<Identity>
    ) throws(WrappingError) {
        entries += 1
        guard entries <= limit else {
            throw refusal(name, "is one of more than \(limit) files and directories")
        }
        var (path, status) = (path, try Self.status(path, followsLink: false))
        if status.st_mode & S_IFMT == S_IFLNK {
            guard let target = Self.resolved(path) else { throw refusal(name, "is a symbolic link that leads nowhere") }
            guard target == root || target.hasPrefix(root == "/" ? root : root + "/") else {
                throw refusal(name, "is a symbolic link that leaves the package")
            }
            (path, status) = (target, try Self.status(target, followsLink: false))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: try add(file: path, as: name)
        case S_IFDIR: try add(directory: path, status, as: name, within: parents)
        default: throw refusal(name, "is a pipe, a socket or a device")
        }
    }

    private mutating func add(file path: String, as name: String) throws(WrappingError) {
        let source: Int32
        do throws(PlainFile.Fault) {
            source = try PlainFile.open(path, followsLink: false)
        } catch {
            throw WrappingError("cannot read \(path): \(error)")
        }
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0 else { throw Self.failure(path) }
        let mode = status.st_mode & 0o777 | S_IRUSR | S_IWUSR
        let file = open(copy + name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw Self.failure(copy + name) }
        defer { close(file) }
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(path) }
            guard count > 0 else { return }
            octets += count
            guard octets <= Self.maximumOctets else {
                throw refusal(name, "makes the package longer than \(Self.maximumOctets >> 30) GiB")
            }
            try Self.write(part[..<count], to: file, at: copy + name)
        }
    }

    private static func write(_ octets: ArraySlice<UInt8>, to file: Int32, at path: String) throws(WrappingError) {
        var rest = octets
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw failure(path) }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    // MARK: Paths

    private func refusal(_ name: String, _ reason: String) -> WrappingError {
        WrappingError("cannot copy \(root): \(name.dropFirst()) \(reason); change that in the package, or omit --adapt")
    }

    private static func failure(_ path: String) -> WrappingError {
        WrappingError("cannot copy \(path): \(String(cString: strerror(errno)))")
    }

    /// Returns a path without links, `.` and `..`; nil if it leads nowhere.
    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func status(_ path: String, followsLink: Bool) throws(WrappingError) -> stat {
        var status = stat()
        guard (followsLink ? stat(path, &status) : lstat(path, &status)) == 0 else { throw failure(path) }
        return status
    }
}
