import CLinux
import Foundation

/// Names of Swift's runtime, and its place.
enum SwiftNames {
    static func demangled(_ name: String) -> String {
        guard let text = harald_demangle(name) else { return name }
        defer { free(text) }
        return String(cString: text)
    }

    /// The folder of the toolchain whose libraries this process uses. Nil if they are linked statically.
    static let toolchain: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { path in
        var difference: UInt64 = 0
        guard let start = path.baseAddress,
            harald_code_file(harald_address_of_runtime(), start, path.count, &difference) != 0
        else { return nil }
        let file = String(cString: start)
        return file.range(of: "/lib/swift/linux/").map { String(file[..<$0.lowerBound]) }
    }
}
