import Foundation

/// The current boot of this machine.
enum HostRun {
    /// The random boot ID from the kernel (random(4)), or nil if unavailable.
    static let current: String? = {
        guard let octets = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") else { return nil }
        let name = String(decoding: octets.prefix(64), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? nil : name
    }()
}
