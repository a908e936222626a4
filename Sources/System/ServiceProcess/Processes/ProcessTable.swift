import BluetoothService
import Foundation
import ServiceMessages

/// Access to the processes of this machine, as far as the service needs it.
package struct ProcessTable: Sendable {
    /// The user of this process. The service only ends processes of this user.
    package var user: UInt32
    /// Opens a handle of the process that has a number now; nil if the kernel does not support them.
    package var descriptor: @Sendable (Int32) -> ProcessDescriptor? = { _ in nil }
    /// The start time of a process, in the kernel's units; nil if there is no such process.
    package var beginning: @Sendable (Int32) -> String?
    /// The systemd unit that a process runs in; nil if it runs in none.
    package var unit: @Sendable (Int32) -> String? = { _ in nil }
    /// The path of the program that a process runs; nil if the kernel does not report it, as for processes of other
    /// users.
    package var executable: @Sendable (Int32) -> String? = { _ in nil }
    /// Sends a signal (second parameter) to a process.
    package var signal: @Sendable (Int32, Int32) -> Void

    /// A mark that distinguishes a process from later ones with the same number; nil if there is no such process.
    func mark(_ process: Int32) -> ProcessMark? {
        guard process > 1, let beginning = beginning(process) else { return nil }
        return ProcessMark(number: UInt32(process), beginning: beginning)
    }

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

    /// The start time in `/proc/PID/stat`, its 22nd field (proc(5)); nil for a process that has ended and has not been
    /// reaped. The second field is a name, which may contain any character.
    static func beginning(inStat text: String) -> String? {
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 20, fields[1] != "Z", fields[1] != "X" else { return nil }
        return String(fields[20])
    }

    /// The last component of the path in the unified control group hierarchy (cgroups(7)).
    static func unit(inGroups text: String) -> String? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
        return line.dropFirst(3).split(separator: "/").last.map(String.init)
    }

    /// The target of `/proc/PID/exe` (proc(5)). If the program file was replaced after the start, the new file counts.
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
