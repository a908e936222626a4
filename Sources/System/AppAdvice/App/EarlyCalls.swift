import Foundation

/// Detects calls before poweredOn (12.23). The app's own side finds them, and reports them as misuse (behaviour 1.6).
struct EarlyCalls: Sendable {
    /// The words of `CoreBluetooth` for such a call, which are Apple's.
    static let sign = "can only accept this command while in the powered on state"

    mutating func accept(_ text: String, _ findings: inout Findings) {
        guard let range = text.range(of: Self.sign) else { return }
        let call = text[range.upperBound...].drop { ": ".contains($0) }
        findings.add(.waitForPower, "called \(call) before it was told that Bluetooth is on")
    }
}
