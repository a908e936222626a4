import BluetoothService
import Foundation
import Synchronization

/// The peripherals of one central manager: one object for each device as long as the app keeps it, so that identity
/// holds (behaviour 2.21), and none after that (behaviour 2.20).
///
/// The table refers to the objects weakly, and each takes its entry along when it goes: it is as long as the list of
/// peripherals that the app keeps.
final class PeripheralRegistry: Sendable {
    private struct Entry {
        weak var peripheral: CBPeripheral?
        let number: UInt64
    }

    private struct Table {
        var entries: [UUID: Entry] = [:]
        var nextNumber: UInt64 = 0
    }

    private let table = Mutex(Table())
    /// Between what is restored and the first state nothing is taken, although peripherals are connected (behaviour 10.11).
    let isRestoring = Atomic(false)

    /// The object for a device, made when there is none.
    func peripheral(for info: PeerInfo, link: ManagerLink) -> CBPeripheral {
        let peripheral = table.withLock { table in
            if let entry = table.entries[info.identifier] {
                if let peripheral = entry.peripheral { return peripheral }
                // The app has just let go of the last object and its end is still running on another thread. The service
                // has to hear of that before it hears from the new object.
                link.send(.forget, of: info.identifier)
            }
            table.nextNumber += 1
            let peripheral = CBPeripheral(
                identifier: info.identifier,
                number: table.nextNumber,
                registry: self,
                link: link
            )
            table.entries[info.identifier] = Entry(peripheral: peripheral, number: table.nextNumber)
            return peripheral
        }
        if let name = info.name { peripheral.setName(name) }
        return peripheral
    }

    /// The object for a device if the app has one.
    func peripheral(_ identifier: UUID) -> CBPeripheral? {
        table.withLock { $0.entries[identifier]?.peripheral }
    }

    /// Called by an object at its end.
    func remove(_ identifier: UUID, number: UInt64, link: ManagerLink) {
        table.withLock { table in
            guard table.entries[identifier]?.number == number else { return }
            table.entries[identifier] = nil
            link.send(.forget, of: identifier)
        }
    }

    /// All objects that the app has.
    var all: [CBPeripheral] {
        table.withLock { $0.entries.values.compactMap(\.peripheral) }
    }

    /// Lets go of all objects; none of them stands for a device any longer (behaviour 1.10).
    func removeAll() {
        table.withLock { $0.entries = [:] }
    }

    /// Whether `peripheral` came from here and still stands for a device.
    func contains(_ peripheral: CBPeripheral) -> Bool {
        table.withLock { $0.entries[peripheral.identifier]?.peripheral } === peripheral
    }
}
