import Foundation

/// Determines whether other users could replace what is at a path, because they own, or may write to, a component of
/// the path.
package enum PathTrust {
    /// The maximum number of symbolic links that are followed, the same as in Linux (path_resolution(7)).
    private static let maximumLinks = 40

    /// Returns why a path is not safe from other users; nil if it is. Every directory on the way counts, including
    /// those that symbolic links lead through. A directory that others may write to is safe if it is sticky and its
    /// entry belongs to `owners`, as with `/tmp`.
    ///
    /// - Parameter owners: The users who may own the components of the path.
    package static func fault(on path: String, owners: Set<UInt32>) -> String? {
        guard let absolute = absolute(path) else { return "the working directory no longer exists" }
        var (place, links) = ("", 0)
        var left = Array(absolute.split(separator: "/").map(String.init).reversed())
        if let fault = fault(at: "/", owners) { return fault }
        while let name = left.popLast() {
            if name == "." { continue }
            if name == ".." {
                place = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
                continue
            }
            let next = "\(place)/\(name)"
            if let fault = fault(at: next, owners) { return fault }
            guard let target = target(of: next) else {
                place = next
                continue
            }
            links += 1
            guard links <= maximumLinks else { return "\(path) has too many symbolic links" }
            if target.hasPrefix("/") { place = "" }
            left += target.split(separator: "/").map(String.init).reversed()
        }
        return nil
    }

    /// Checks one component, of any type.
    private static func fault(at place: String, _ owners: Set<UInt32>) -> String? {
        var status = stat()
        guard lstat(place, &status) == 0 else { return "\(place): \(String(cString: strerror(errno)))" }
        guard owners.contains(status.st_uid) else {
            return "\(place) belongs to user \(status.st_uid), who can change it"
        }
        let kind = status.st_mode & S_IFMT
        // The permission bits of a link have no meaning.
        if kind == S_IFLNK { return nil }
        let isSticky = kind == S_IFDIR && status.st_mode & S_ISVTX != 0
        guard status.st_mode & 0o022 == 0 || isSticky else {
            let bits = String(status.st_mode & 0o7777, radix: 8)
            return "other users can write to \(place), which has mode \(bits); remove that permission with chmod go-w"
        }
        return nil
    }

    /// The target of a symbolic link; nil for anything else.
    private static func target(of place: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(place, &text, text.count)
        return count >= 0 ? String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static func absolute(_ path: String) -> String? {
        if path.hasPrefix("/") { return path }
        guard let current = getcwd(nil, 0) else { return nil }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
    }
}

/// The device and inode of an open file, which are unique for as long as it is open (stat(2)).
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    /// The identity of the file behind a descriptor; nil if the descriptor is not open.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
