import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The processes of this machine, as far as the service has to do with them.
package struct ProcessTable: Sendable {
    /// The user of this process, the only one whose processes it ends.
    package var user: UInt32
    /// When a process began, as the kernel counts; nil for one that is not there.
    package var beginning: @Sendable (Int32) -> String?
    /// Sends a signal.
    package var signal: @Sendable (Int32, Int32) -> Void

    /// A table.
    package init(
        user: UInt32,
        beginning: @escaping @Sendable (Int32) -> String?,
        signal: @escaping @Sendable (Int32, Int32) -> Void
    ) {
        self.user = user
        self.beginning = beginning
        self.signal = signal
    }

    /// That of the kernel.
    package static let ofKernel = ProcessTable(user: getuid(), beginning: beginning) { _ = kill($0, $1) }

    /// The 22nd field of `/proc/PID/stat` (proc(5)); the second one is a name, which may have anything in it.
    private static let beginning: @Sendable (Int32) -> String? = { process in
        guard let file = FileHandle(forReadingAtPath: "/proc/\(process)/stat") else { return nil }
        defer { try? file.close() }
        guard let octets = try? file.read(upToCount: 4_096) else { return nil }
        let text = String(decoding: octets, as: UTF8.self)
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[name...].split(separator: " ")
        return fields.count > 20 ? String(fields[20]) : nil
    }
}

/// One process, and no other one that gets its number later.
struct KnownProcess: Hashable {
    let number: Int32
    private let beginning: String

    /// The process that has a number now; nil where there is none, or it is none to be ended.
    init?(_ number: Int32, in table: ProcessTable) {
        // 0 is one that this process cannot see, and 1 nobody's.
        guard number > 1, number != getpid(), let beginning = table.beginning(number) else { return nil }
        self.number = number
        self.beginning = beginning
    }

    /// Whether it still runs.
    func isThere(in table: ProcessTable) -> Bool { table.beginning(number) == beginning }
}
