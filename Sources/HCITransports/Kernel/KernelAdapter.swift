import BluetoothTypes

/// A Bluetooth adapter that the kernel knows.
package struct KernelAdapter: Hashable, Sendable {
    /// Who uses it.
    package enum Holder: String, Sendable {
        /// It can be had.
        case nobody
        /// The kernel's own host: somebody has switched it on, and it can be taken.
        case kernel
        /// The system's daemon, by the kernel's host.
        case bluetoothd
        /// A program, by the user channel.
        case program
    }

    /// Its number.
    package var index: UInt16
    /// Its own address; nil where it has none, or none yet.
    package var address: BluetoothAddress?
    /// How it is attached: "USB", "UART".
    package var bus: String
    /// What its maker calls it, where that is known.
    package var product: String?
    /// Where it is attached, the same whatever its number: `usb-1-2`; nil for what is nowhere, as virtual adapters are.
    package var attachment: String?
    /// The file of the device on USB, by which its port is reset; nil for what is attached otherwise.
    package var node: String?
    /// Whether it is switched on.
    package var isUp: Bool
    /// Whether radios are switched off by the person (rfkill).
    package var isBlocked: Bool
    /// Who uses it.
    package var holder: Holder
    /// Whether the driver has done what it does at first: firmware is loaded.
    package var isInitialized: Bool

    /// `hci0`.
    package var name: String { "hci\(index)" }
    /// Where it is, for as long as it can be said (``HCITransport/place``).
    package var place: String { attachment.map { "hci:\($0)" } ?? name }

    /// Reads `struct hci_dev_info`; nil for fewer octets.
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

    /// `include/net/bluetooth/hci.h` of Linux.
    private static let buses = [
        "virtual", "USB", "PC card", "UART", "RS232", "PCI", "SDIO", "SPI", "I2C", "SMD", "virtio", "IPC",
    ]
}
