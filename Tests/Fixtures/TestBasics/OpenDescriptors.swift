import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The descriptors that this process has open, whatever their numbers. Suites that run beside each other open hundreds.
package enum OpenDescriptors {
    /// How many of them lead to a file. The file is examined as a symbolic link itself.
    ///
    /// - Returns: 0 where no such file exists.
    package static func count(of path: String) throws -> Int {
        var file = stat()
        guard lstat(path, &file) == 0 else { return 0 }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            var other = stat()
            guard let descriptor = Int32(name), fstat(descriptor, &other) == 0 else { return false }
            return other.st_ino == file.st_ino && other.st_dev == file.st_dev
        }
    }
}
