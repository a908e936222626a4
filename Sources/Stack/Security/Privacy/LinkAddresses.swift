import BluetoothTypes
import HCI
import HCIHost

/// The address that this device used on each link when the link was made.
struct LinkAddresses {
    private struct Entry {
        weak var connection: HCIConnection?
        var address: BluetoothAddress
    }

    private var entries: [ConnectionHandle: Entry] = [:]

    /// Records the address of a new link.
    mutating func began(_ connection: HCIConnection, at address: BluetoothAddress) {
        entries[connection.handle] = Entry(connection: connection, address: address)
    }

    /// Records the address of the advertising set from which a link was made, unless the controller generated the
    /// address of the link.
    mutating func began(_ handle: ConnectionHandle, toSetAt address: BluetoothAddress) {
        guard let known = entries[handle]?.connection, known.localResolvableAddress == nil else { return }
        entries[handle]?.address = address
    }

    /// The address of a link; nil for an unknown link.
    func address(of connection: HCIConnection) -> BluetoothAddress? {
        guard let known = entries[connection.handle], known.connection === connection else { return nil }
        return known.address
    }
}
