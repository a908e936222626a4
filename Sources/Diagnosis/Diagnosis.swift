/// What is wrong with a machine's Bluetooth, and how to mend it: a list of checks, each a function of what was seen.
package struct Diagnosis: Codable, Hashable, Sendable {
    /// What was found, the worst first.
    package let findings: [Finding]

    /// Whether something is wrong. What works less well than it might is not.
    package var isSound: Bool { !findings.contains { $0.severity == .problem } }

    package init(of facts: MachineFacts) {
        let found = Self.checks.flatMap { $0(facts) }
        findings = Finding.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// In the order in which a person would ask.
    static let checks: [@Sendable (MachineFacts) -> [Finding]] = [
        Check.kernel, Check.adapters, Check.usb, Check.switches, Check.holders, Check.daemon, Check.rights, Check.log,
        Check.ports,
        Check.service, Check.controller, Check.weaknesses,
    ]

    /// For a person.
    package var lines: [String] {
        findings.isEmpty ? ["nothing is wrong with this machine's Bluetooth"] : findings.flatMap(\.lines)
    }
}

/// The checks: none of them asks anything itself.
enum Check {}
