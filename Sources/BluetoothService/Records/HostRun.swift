import Foundation

/// The run of this machine: another one each time that it is started.
enum HostRun {
    /// Its name, which the kernel makes by lot (random(4)); nil where there is none.
    static let current: String? = {
        guard let octets = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") else { return nil }
        let name = String(decoding: octets.prefix(64), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? nil : name
    }()
}
