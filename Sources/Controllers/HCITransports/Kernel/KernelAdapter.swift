import BluetoothTypes

/// A Bluetooth adapter of the kernel.
package struct KernelAdapter: Hashable, Sendable {
    /// The current user of an adapter.
    package enum Holder: String, Sendable {
        /// The adapter is free.
        case nobody
        /// The kernel's own host has it up. It can be claimed.
        case kernel
        /// bluetoothd, through the kernel's host.
        case bluetoothd
        /// Another program, through the user channel.
        case program
    }

    /// The N of `hciN`.
    package var index: UInt16
    /// The adapter's address; nil if it has none, or none yet.
    package var address: BluetoothAddress?
    /// The kind of bus, such as "USB" or "UART".
    package var bus: String
    /// The product name, where known.
    package var product: String?
    /// Where the adapter is attached, such as `usb-1-2`, independent of its number; nil for virtual adapters.
    package var attachment: String?
    /// The USB device node, for resetting its port; nil on other buses.
    package var node: String?
    package var isUp: Bool
    /// Whether the radio is blocked by rfkill.
    package var isBlocked: Bool
    package var holder: Holder
    /// Whether the driver has initialized the controller, including its firmware.
    package var isInitialized: Bool

    /// The adapter's name, such as `hci0`.
    package var name: String { "hci\(index)" }
    /// The most stable place of the adapter (``HCITransport/place``).
    package var place: String { attachment.map { "hci:\($0)" } ?? name }

    /// Parses `struct hci_dev_info`. Returns nil if it is too short.
    init?(_ octets: [UInt8], index: UInt16) {
        guard octets.count >= 21 else { return nil }
        let value = octets[10..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.index = index
        address = value == 0 ? nil : BluetoothAddress(value, kind: .publicDevice)
        let number = Int(octets[20] & 0x0F)
        bus = Self.buses.indices.contains(number) ? Self.buses[number] : "bus \(number)"
        isUp = octets[16] & 1 == 1
        isBlocked = false
        holder = .nobody
        isInitialized = false
    }

    /// The bus names, by number in `include/net/bluetooth/hci.h` of Linux.
    private static let buses = [
        "virtual", "USB", "PC card", "UART", "RS232", "PCI", "SDIO", "SPI", "I2C", "SMD", "virtio", "IPC",
    ]
}
