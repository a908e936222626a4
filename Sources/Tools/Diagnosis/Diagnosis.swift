/// The problems of a machine's Bluetooth and their remedies. Each check is a pure function of the collected facts.
package struct Diagnosis: Codable, Hashable, Sendable {
    /// The findings, most severe first.
    package let findings: [Finding]

    /// Whether there is no ``Finding/Severity/problem``. Weaknesses and notes do not count.
    package var isSound: Bool { !findings.contains { $0.severity == .problem } }

    package init(of facts: MachineFacts) {
        let found = Self.checks.flatMap { $0(facts) }
        findings = Finding.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// The checks, in the order in which a user would ask the questions.
    static let checks: [@Sendable (MachineFacts) -> [Finding]] = [
        Check.kernel, Check.adapters, Check.usb, Check.switches, Check.holders, Check.daemon, Check.rights, Check.log,
        Check.ports,
        Check.service, Check.controller, Check.weaknesses,
    ]

    /// The report for display, one array element per line.
    package var lines: [String] {
        findings.isEmpty ? ["nothing is wrong with this machine's Bluetooth"] : findings.flatMap(\.lines)
    }
}

/// The namespace of the checks. They are pure: only ``FactSource`` queries the machine.
enum Check {}
