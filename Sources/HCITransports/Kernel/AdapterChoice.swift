import BluetoothTypes

/// Which of the kernel's adapters is meant, as it is written. Numbers are given out in the order in which adapters come, so there
/// are ways that last longer.
package enum AdapterChoice: Hashable, Sendable, CustomStringConvertible {
    /// The first that can be had, in the order of their numbers: `hci`.
    case first
    /// By its number: `hci0`.
    case number(UInt16)
    /// By its own address: `hci:C0:FF:EE:00:00:01`.
    case address(BluetoothAddress)
    /// By where it is plugged in or soldered on: `hci:usb-1-2`, as ``KernelAdapter/attachment`` has it.
    case attachment(String)

    /// Reads a choice; nil for what is none.
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

    /// As it is written.
    package var description: String {
        switch self {
        case .first: "hci"
        case .number(let number): "hci\(number)"
        case .address(let address): "hci:\(address)"
        case .attachment(let name): "hci:\(name)"
        }
    }
}
