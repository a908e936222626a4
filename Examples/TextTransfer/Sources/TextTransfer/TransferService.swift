import CoreBluetooth

/// What sender and receiver of a text have agreed on.
enum TransferService {
    static let service = CBUUID(string: "E20A39F4-73F5-4BC4-A12F-17D1AD07A961")
    static let text = CBUUID(string: "08590F7E-DB05-467E-8757-72F6FAEB13D4")
    /// What is sent after the last part of a text.
    static let end = Data("EOM".utf8)
}
