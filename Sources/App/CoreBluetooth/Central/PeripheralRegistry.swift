import Foundation
import ServiceMessages
import Synchronization

/// The peripherals of one central manager: one object for each device as long as the app holds it (behaviours 2.20,
/// 2.21).
///
/// The table refers to the objects weakly, and each object removes its entry when it is released. Therefore the table
/// is no longer than the list of peripherals that the app holds.
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
    /// Whether the manager was restored and its first state has not arrived. Until then commands are refused even if a
    /// peripheral is connected (behaviour 10.11).
    let isRestoring = Atomic(false)

    /// Returns the object for a device, after creating it if there is none.
    func peripheral(for info: PeerInfo, link: ManagerLink) -> CBPeripheral {
        let peripheral = table.withLock { table in
            if let entry = table.entries[info.identifier] {
                if let peripheral = entry.peripheral { return peripheral }
                // The app has just released the last object, whose deinitializer is still running on another thread.
                // The service has to be told before the new object sends anything.
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

    func peripheral(_ identifier: UUID) -> CBPeripheral? {
        table.withLock { $0.entries[identifier]?.peripheral }
    }

    func remove(_ identifier: UUID, number: UInt64, link: ManagerLink) {
        table.withLock { table in
            guard table.entries[identifier]?.number == number else { return }
            table.entries[identifier] = nil
            link.send(.forget, of: identifier)
        }
    }

    /// All objects that the app holds.
    var all: [CBPeripheral] {
        table.withLock { $0.entries.values.compactMap(\.peripheral) }
    }

    /// Removes all objects, which are no longer valid (behaviour 1.10).
    func removeAll() {
        table.withLock { $0.entries = [:] }
    }

    /// Whether `peripheral` is an object of this registry and still valid.
    func contains(_ peripheral: CBPeripheral) -> Bool {
        table.withLock { $0.entries[peripheral.identifier]?.peripheral } === peripheral
    }
}
