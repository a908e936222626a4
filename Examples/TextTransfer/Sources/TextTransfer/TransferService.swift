import CoreBluetooth

/// The protocol between the sender and the receiver of a text.
enum TransferService {
    static let service = CBUUID(string: "E20A39F4-73F5-4BC4-A12F-17D1AD07A961")
    static let text = CBUUID(string: "08590F7E-DB05-467E-8757-72F6FAEB13D4")
    /// The value that follows the last part of a text.
    static let end = Data("EOM".utf8)
}
