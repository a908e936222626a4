import BluetoothTypes

/// A user's choice of a kernel adapter, as written on a command line.
///
/// The kernel numbers adapters in the order in which they appear, so the address and the attachment are more stable
/// than the number.
package enum AdapterChoice: Hashable, Sendable, CustomStringConvertible {
    /// The first usable adapter, by number: `hci`.
    case first
    /// The adapter with this number: `hci0`.
    case number(UInt16)
    /// By Bluetooth address: `hci:C0:FF:EE:00:00:01`.
    case address(BluetoothAddress)
    /// By the place where it is attached: `hci:usb-1-2`, as in ``KernelAdapter/attachment``.
    case attachment(String)

    /// Parses a choice. Returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix("hci") else { return nil }
        let rest = text.dropFirst(3)
        if rest.isEmpty {
            self = .first
        } else if rest.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard let number = UInt16(rest) else { return nil }
            self = .number(number)
        } else if rest.hasPrefix(":") {
            let name = String(rest.dropFirst())
            guard !name.isEmpty, !name.contains("/") else { return nil }
            self = BluetoothAddress(name, kind: .publicDevice).map(Self.address) ?? .attachment(name)
        } else {
            return nil
        }
    }

    /// The choice in the form that ``init(_:)`` parses.
    package var description: String {
        switch self {
        case .first: "hci"
        case .number(let number): "hci\(number)"
        case .address(let address): "hci:\(address)"
        case .attachment(let name): "hci:\(name)"
        }
    }
}
