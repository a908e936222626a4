/// One result of a diagnosis.
package struct Finding: Codable, Hashable, Sendable {
    /// How serious a finding is.
    package enum Severity: String, Codable, Hashable, Sendable, CaseIterable {
        /// Bluetooth does not work, or will soon stop working.
        case problem
        /// Bluetooth works less well than it could.
        case weakness
        /// Nothing is wrong, but the fact is worth knowing.
        case note
    }

    package var severity: Severity
    /// A stable one-word identifier for programs, such as `bluetoothd`.
    package var code: String
    /// The subject: `hci0`, a path, or `this machine`.
    package var place: String
    /// The finding itself, as a statement about ``place``.
    package var what: String
    /// The remedy: a command where there is one; nil for none.
    package var remedy: String?

    package init(_ severity: Severity, _ code: String, at place: String, _ what: String, do remedy: String? = nil) {
        (self.severity, self.code, self.place) = (severity, code, place)
        (self.what, self.remedy) = (what, remedy)
    }

    /// The finding for display, in one or two lines.
    package var lines: [String] {
        ["\(severity.rawValue): \(place): \(what)"] + (remedy.map { ["  \($0)"] } ?? [])
    }
}
