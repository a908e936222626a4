import HCI

/// A device that is plugged in.
package struct USBDevice: Hashable, Sendable {
    /// What a device or an interface says that it is.
    package struct Class: Hashable, Sendable {
        package var code: UInt8
        package var subclass: UInt8
        package var `protocol`: UInt8

        package init(_ code: UInt8, _ subclass: UInt8, _ protocol: UInt8) {
            (self.code, self.subclass, self.protocol) = (code, subclass, `protocol`)
        }

        /// A Bluetooth controller (Core Vol 4 Part B 3).
        package static let bluetooth = Class(0xE0, 1, 1)
    }

    /// An endpoint, with the setting of an interface that has it.
    package struct Endpoint: Hashable, Sendable {
        /// How it transfers (USB 2.0 9.6.6).
        package enum Kind: UInt8, Sendable {
            case control = 0
            case isochronous = 1
            case bulk = 2
            case interrupt = 3
        }

        package var interface: UInt8
        package var alternate: UInt8
        package var interfaceClass: Class
        /// Its number, with the highest bit where octets come from the device.
        package var address: UInt8
        package var kind: Kind
        /// Octets of its packets.
        package var size: Int
        package var isIn: Bool { address & 0x80 != 0 }

        package init(interface: UInt8, alternate: UInt8, interfaceClass: Class, address: UInt8, kind: Kind, size: Int) {
            (self.interface, self.alternate, self.interfaceClass) = (interface, alternate, interfaceClass)
            (self.address, self.kind, self.size) = (address, kind, size)
        }
    }

    /// The number of its maker.
    package var vendor: UInt16
    /// The maker's number of the product.
    package var product: UInt16
    /// The bus, and the number on it, which is another each time that it is plugged in.
    package var bus: UInt8
    package var address: UInt8
    /// The ports that lead to it, from the bus on.
    package var ports: [UInt8]
    package var deviceClass: Class
    package var endpoints: [Endpoint]

    package init(
        vendor: UInt16,
        product: UInt16,
        bus: UInt8,
        address: UInt8,
        ports: [UInt8],
        deviceClass: Class = .bluetooth,
        endpoints: [Endpoint]
    ) {
        (self.vendor, self.product, self.bus, self.address) = (vendor, product, bus, address)
        (self.ports, self.deviceClass, self.endpoints) = (ports, deviceClass, endpoints)
    }

    /// Where it is plugged in, as the kernel writes it: `1-2.3`.
    package var place: String { "\(bus)-\(ports.map(String.init).joined(separator: "."))" }

    /// `1209:0b1e`.
    package var name: String { "\(Self.hexadecimal(vendor)):\(Self.hexadecimal(product))" }

    /// Whether it says that it is a Bluetooth controller, or has an interface that is one.
    package var isBluetooth: Bool {
        deviceClass == .bluetooth || endpoints.contains { $0.interfaceClass == .bluetooth }
    }

    static func hexadecimal(_ number: UInt16) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}

/// The endpoints of a controller that go together: all of one setting of one interface, or none (Core Vol 4 Part B 2.1).
package struct USBEndpoints: Hashable, Sendable {
    package var interface: UInt8
    package var alternate: UInt8
    /// For events; nil in Bulk Serialization Mode.
    package var interruptIn: USBDevice.Endpoint?
    package var bulkIn: USBDevice.Endpoint
    package var bulkOut: USBDevice.Endpoint

    /// Whether all packets go by the bulk endpoints (Core 6.2 Vol 4 Part B).
    package var isSerialized: Bool { interruptIn == nil }

    /// The sets of a device, the one to be preferred first. Those of Bluetooth interfaces come before others, which a device has whose maker
    /// gave it a class of his own.
    package static func sets(of device: USBDevice) -> [USBEndpoints] {
        let interfaces = Set(device.endpoints.map(\.interface)).sorted()
        let legacy = interfaces.compactMap { set(of: device, interface: $0, alternate: 0, isSerialized: false) }
        let (own, others) = (legacy.filter { $0.isBluetooth }, legacy.filter { !$0.isBluetooth })
        guard let first = own.first ?? others.first else { return [] }
        // Only what says to be Bluetooth has the setting of that meaning.
        let serialized =
            first.isBluetooth
            ? set(of: device, interface: first.interface, alternate: 1, isSerialized: true) : nil
        return [serialized, first].compactMap { $0 }
    }

    private var isBluetooth: Bool { bulkIn.interfaceClass == .bluetooth }

    private static func set(of device: USBDevice, interface: UInt8, alternate: UInt8, isSerialized: Bool) -> Self? {
        let all = device.endpoints.filter { $0.interface == interface && $0.alternate == alternate && $0.size > 0 }
        let interrupt = all.first { $0.kind == .interrupt && $0.isIn }
        guard let bulkIn = all.first(where: { $0.kind == .bulk && $0.isIn }),
            let bulkOut = all.first(where: { $0.kind == .bulk && !$0.isIn }),
            isSerialized == (interrupt == nil)
        else { return nil }
        return Self(
            interface: interface,
            alternate: alternate,
            interruptIn: interrupt,
            bulkIn: bulkIn,
            bulkOut: bulkOut
        )
    }
}
