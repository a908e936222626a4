/// A user's choice of a USB controller, as written on a command line.
package enum USBChoice: Hashable, Sendable, CustomStringConvertible {
    /// The first usable controller: `usb`.
    case first
    /// By position in the list of controllers, from 0: `usb:0`.
    case number(Int)
    /// By vendor and product identifier, whatever the device's class: `usb:1209:0b1e`.
    case product(vendor: UInt16, product: UInt16)
    /// By the place where it is plugged in, whatever the device's class: `usb:1-2.3`.
    case place(String)

    /// Parses a choice. Returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix("usb") else { return nil }
        let rest = text.dropFirst(3)
        guard !rest.isEmpty else {
            self = .first
            return
        }
        guard rest.hasPrefix(":") else { return nil }
        let name = rest.dropFirst()
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, let vendor = Self.hexadecimal(parts[0]), let product = Self.hexadecimal(parts[1]) {
            self = .product(vendor: vendor, product: product)
        } else if let number = Self.decimal(name) {
            self = .number(number)
        } else if Self.isPlace(name) {
            self = .place(String(name))
        } else {
            return nil
        }
    }

    private static func hexadecimal(_ text: some StringProtocol) -> UInt16? {
        guard 1...4 ~= text.utf8.count, text.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(text, radix: 16)
    }

    private static func decimal(_ text: some StringProtocol) -> Int? {
        guard 1...3 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }

    /// Whether this is a bus and a chain of ports: `1-2.3`.
    private static func isPlace(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, decimal(parts[0]) != nil else { return false }
        let ports = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return 1...7 ~= ports.count && ports.allSatisfy { decimal($0) != nil }
    }

    /// The choice in the form that ``init(_:)`` parses.
    package var description: String {
        switch self {
        case .first: "usb"
        case .number(let number): "usb:\(number)"
        case .product(let vendor, let product):
            "usb:\(USBDevice.hexadecimal(vendor)):\(USBDevice.hexadecimal(product))"
        case .place(let place): "usb:\(place)"
        }
    }
}
