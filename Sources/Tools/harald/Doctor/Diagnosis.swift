/// The problems of a machine's Bluetooth and their remedies. Each check is a pure function of the collected facts.
struct Diagnosis: Codable, Hashable, Sendable {
    /// The findings, most severe first.
    let findings: [Finding]

    /// Whether there is no ``Finding/Severity/problem``. Weaknesses and notes do not count.
    var isSound: Bool { !findings.contains { $0.severity == .problem } }

    init(of facts: MachineFacts) {
        let found = Self.checks.flatMap { $0(facts) }
        findings = Finding.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// The checks, in the order in which a user would ask the questions.
    static let checks: [@Sendable (MachineFacts) -> [Finding]] = [
        Check.kernel, Check.adapters, Check.usb, Check.switches, Check.holders, Check.daemon, Check.rights, Check.log,
        Check.ports,
        Check.service, Check.controller, Check.weaknesses,
    ]

    var lines: [String] {
        findings.isEmpty ? ["nothing is wrong with this machine's Bluetooth"] : findings.flatMap(\.lines)
    }
}

/// The namespace of the checks. They are pure: only ``LinuxFacts`` queries the machine.
enum Check {}

/// One result of a diagnosis.
struct Finding: Codable, Hashable, Sendable {
    /// How serious a finding is.
    enum Severity: String, Codable, Hashable, Sendable, CaseIterable {
        /// Bluetooth does not work, or will soon stop working.
        case problem
        /// Bluetooth works less well than it could.
        case weakness
        /// Nothing is wrong, but the fact is worth knowing.
        case note
    }

    var severity: Severity
    /// A stable one-word identifier for programs, such as `bluetoothd`.
    var code: String
    /// The subject: `hci0`, a path, or `this machine`.
    var place: String
    var what: String
    /// The remedy: a command where there is one; nil for none.
    var remedy: String?

    init(_ severity: Severity, _ code: String, at place: String, _ what: String, do remedy: String? = nil) {
        (self.severity, self.code, self.place) = (severity, code, place)
        (self.what, self.remedy) = (what, remedy)
    }

    var lines: [String] {
        ["\(severity.rawValue): \(place): \(what)"] + (remedy.map { ["  \($0)"] } ?? [])
    }
}
