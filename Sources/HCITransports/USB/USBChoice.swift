/// Which controller on USB is meant, as it is written.
package enum USBChoice: Hashable, Sendable, CustomStringConvertible {
    /// The first that can be had: `usb`.
    case first
    /// By its place among those that there are, from 0: `usb:0`.
    case number(Int)
    /// By maker and product, whatever it says that it is: `usb:1209:0b1e`.
    case product(vendor: UInt16, product: UInt16)
    /// By where it is plugged in, whatever it says that it is: `usb:1-2.3`.
    case place(String)

    /// Reads a choice; nil for what is none.
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

    /// A bus, and ports from there on: `1-2.3`.
    private static func isPlace(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, decimal(parts[0]) != nil else { return false }
        let ports = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return 1...7 ~= ports.count && ports.allSatisfy { decimal($0) != nil }
    }

    /// As it is written.
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
