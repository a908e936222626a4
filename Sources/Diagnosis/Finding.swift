/// Something that was found out about a machine's Bluetooth.
package struct Finding: Codable, Hashable, Sendable {
    /// How much it matters.
    package enum Severity: String, Codable, Hashable, Sendable, CaseIterable {
        /// Bluetooth does not work, or soon will not.
        case problem
        /// It works less well than it might.
        case weakness
        /// It is good to know.
        case note
    }

    package var severity: Severity
    /// Which finding it is, in one word for programs: `bluetoothd`. It stays as it is.
    package var code: String
    /// What it is about: `hci0`, a path, or `this machine`.
    package var place: String
    /// What is so.
    package var what: String
    /// What to do about it; a command where there is one.
    package var remedy: String?

    package init(_ severity: Severity, _ code: String, at place: String, _ what: String, do remedy: String? = nil) {
        (self.severity, self.code, self.place) = (severity, code, place)
        (self.what, self.remedy) = (what, remedy)
    }

    /// For a person, one or two lines.
    package var lines: [String] {
        ["\(severity.rawValue): \(place): \(what)"] + (remedy.map { ["  \($0)"] } ?? [])
    }
}
