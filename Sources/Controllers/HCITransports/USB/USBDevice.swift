import HCI

/// A USB device that is plugged in.
package struct USBDevice: Hashable, Sendable {
    /// The class of a device or an interface, as its descriptor reports it.
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

    /// An endpoint of an alternate setting of an interface.
    package struct Endpoint: Hashable, Sendable {
        /// The transfer type (USB 2.0 9.6.6).
        package enum Kind: UInt8, Sendable {
            case control = 0
            case isochronous = 1
            case bulk = 2
            case interrupt = 3
        }

        package var interface: UInt8
        package var alternate: UInt8
        package var interfaceClass: Class
        /// The endpoint number. The most significant bit is set for data from the device.
        package var address: UInt8
        package var kind: Kind
        /// The maximum packet size in octets.
        package var size: Int
        package var isIn: Bool { address & 0x80 != 0 }

        package init(interface: UInt8, alternate: UInt8, interfaceClass: Class, address: UInt8, kind: Kind, size: Int) {
            (self.interface, self.alternate, self.interfaceClass) = (interface, alternate, interfaceClass)
            (self.address, self.kind, self.size) = (address, kind, size)
        }
    }

    /// The vendor identifier (idVendor).
    package var vendor: UInt16
    /// The product identifier (idProduct).
    package var product: UInt16
    /// The bus number and the device address on it, which changes each time the device is plugged in.
    package var bus: UInt8
    package var address: UInt8
    /// The port numbers that lead to the device, starting at the bus.
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

    /// The place where the device is plugged in, in the kernel's notation: `1-2.3`.
    package var place: String { "\(bus)-\(ports.map(String.init).joined(separator: "."))" }

    /// The vendor and product identifier: `1209:0b1e`.
    package var name: String { "\(Self.hexadecimal(vendor)):\(Self.hexadecimal(product))" }

    /// Whether the device, or one of its interfaces, reports the Bluetooth class.
    package var isBluetooth: Bool {
        deviceClass == .bluetooth || endpoints.contains { $0.interfaceClass == .bluetooth }
    }

    static func hexadecimal(_ number: UInt16) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}

/// A complete set of a controller's endpoints, from one setting of one interface (Core Vol 4 Part B 2.1).
package struct USBEndpoints: Hashable, Sendable {
    package var interface: UInt8
    package var alternate: UInt8
    /// The endpoint for events; nil in Bulk Serialization Mode.
    package var interruptIn: USBDevice.Endpoint?
    package var bulkIn: USBDevice.Endpoint
    package var bulkOut: USBDevice.Endpoint

    /// Whether all packets use the bulk endpoints: Bulk Serialization Mode (Core 6.2 Vol 4 Part B).
    package var isSerialized: Bool { interruptIn == nil }

    /// Returns the endpoint sets of a device, in order of preference.
    ///
    /// Bluetooth interfaces come before others, which devices with a vendor-specific class use.
    package static func sets(of device: USBDevice) -> [USBEndpoints] {
        let interfaces = Set(device.endpoints.map(\.interface)).sorted()
        let legacy = interfaces.compactMap { set(of: device, interface: $0, alternate: 0, isSerialized: false) }
        let (own, others) = (legacy.filter { $0.isBluetooth }, legacy.filter { !$0.isBluetooth })
        guard let first = own.first ?? others.first else { return [] }
        // The setting only has this meaning in an interface that reports the Bluetooth class.
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
