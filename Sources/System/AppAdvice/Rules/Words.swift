import AssignedNumbers
import BluetoothTypes
import Foundation

extension Duration {
    /// The time for a reader: whole seconds, or a decimal below ten.
    var words: String {
        let tenths = (components.seconds * 10) + components.attoseconds / 100_000_000_000_000_000
        guard tenths < 6_000 else { return "\(tenths / 600) min" }
        return tenths < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
    }
}

extension BluetoothUUID {
    /// The name and the number, or the UUID.
    var words: String { AssignedNumbers.title(of: self) }
}

/// Lists what is counted: `1 service`, `3 services`.
func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
