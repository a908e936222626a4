import BluetoothService
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
    /// The process that has a number now; nil where the kernel has no descriptors of processes.
    package var descriptor: @Sendable (Int32) -> ProcessDescriptor?
    /// When a process began, as the kernel counts; nil for one that is not there.
    package var beginning: @Sendable (Int32) -> String?
    /// The unit of systemd that a process runs in; nil where there is none.
    package var unit: @Sendable (Int32) -> String?
    /// The path of the program that a process runs; nil where the kernel does not say, as of processes of other users.
    package var executable: @Sendable (Int32) -> String?
    /// Sends a signal.
    package var signal: @Sendable (Int32, Int32) -> Void

    /// A table.
    package init(
        user: UInt32,
        descriptor: @escaping @Sendable (Int32) -> ProcessDescriptor? = { _ in nil },
        beginning: @escaping @Sendable (Int32) -> String?,
        unit: @escaping @Sendable (Int32) -> String? = { _ in nil },
        executable: @escaping @Sendable (Int32) -> String? = { _ in nil },
        signal: @escaping @Sendable (Int32, Int32) -> Void
    ) {
        self.user = user
        self.descriptor = descriptor
        self.beginning = beginning
        self.unit = unit
        self.executable = executable
        self.signal = signal
    }

    /// What tells a process from those that get its number later; nil for one that is not there.
    func mark(_ process: Int32) -> ProcessMark? {
        guard process > 1, let beginning = beginning(process) else { return nil }
        return ProcessMark(number: UInt32(process), beginning: beginning)
    }

    /// That of the kernel.
    package static let ofKernel = ProcessTable(
        user: getuid(),
        descriptor: { ProcessDescriptor(of: $0) },
        beginning: beginning,
        unit: { contents("/proc/\($0)/cgroup").flatMap(unit(inGroups:)) },
        executable: { number in
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/exe")
            return link.map(executable(inLink:))
        }
    ) { _ = kill($0, $1) }

    private static let beginning: @Sendable (Int32) -> String? = { process in
        contents("/proc/\(process)/stat").flatMap(beginning(inStat:))
    }

    /// The start time in `/proc/PID/stat`, its 22nd field (proc(5)); nil for a process that has ended and waits for its parent to reap it. The
    /// second field is a name, which may contain anything.
    static func beginning(inStat text: String) -> String? {
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 20, fields[1] != "Z", fields[1] != "X" else { return nil }
        return String(fields[20])
    }

    /// The last part of the path in the second hierarchy of control groups (cgroups(7)).
    static func unit(inGroups text: String) -> String? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
        return line.dropFirst(3).split(separator: "/").last.map(String.init)
    }

    /// What `/proc/PID/exe` says (proc(5)): a program that was replaced since it was started counts as the new one.
    static func executable(inLink text: String) -> String {
        let mark = " (deleted)"
        return text.hasSuffix(mark) ? String(text.dropLast(mark.count)) : text
    }

    private static func contents(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: 4_096)).map { String(decoding: $0, as: UTF8.self) }
    }
}
