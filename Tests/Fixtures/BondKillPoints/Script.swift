import BluetoothTypes
import EventLoops
import GATT
import SMP
import Security

/// A sequence of operations on a store. The same seed produces the same operations, and each one changes the state
/// once.
package struct Script {
    /// Small enough that bonds get evicted.
    package static let capacity = 6
    /// The operations that work on a store that no other operation has created.
    package static let foreignOperations = 201..<204

    package let seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// Opens the bonds in `storage`, and performs the operation with this number.
    package func perform(_ number: Int, on storage: any BondStorage) throws {
        let random = RandomSource(seed: seed &+ UInt64(number))
        let present = AdapterIdentity(address: Samples.adapter.address, place: number % 20 == 19 ? "moved" : "usb")
        let store = try BondStore(
            storage: storage,
            adapter: number == 0 ? Samples.adapter : present,
            adopting: true,
            random: random,
            capacity: Self.capacity
        )
        // The first operation creates the store, and some others assign it to another adapter.
        if number == 0 || number % 20 == 19 || (number % 20 == 0 && number > 0) { return }
        guard let bond = store.bonds.isEmpty ? nil : store.bonds[Int(random.below(UInt64(store.bonds.count)))] else {
            return _ = try store.add(Samples.bond(number))
        }
        switch random.below(8) {
        case 0: try store.add(Samples.bond(number, level: random.below(8) == 0 ? Samples.strong : Samples.weak))
        case 1, 2: try store.add(Samples.fullBond(number).unauthenticated)
        case 3: try store.add(Bond(identifier: bond.identifier, address: bond.address, keys: bond.keys, name: "again"))
        case 4: try store.update(bond.identifier) { $0.keys.localSignCounter &+= 1 }
        case 5:
            try store.update(bond.identifier) {
                $0.record = Samples.record(number)
                $0.cache = Samples.cache(services: UInt16(random.below(3)))
            }
        case 6 where store.bonds.count > 3: try store.remove(bond.identifier)
        default: store.updateRecords { $0.configurations[UInt16(truncatingIfNeeded: number)] = .notify }
        }
    }

    /// Returns the state after the operation.
    package func state(after number: Int, from old: StoredBonds?) throws -> StoredBonds? {
        let memory = MemoryBondStorage(old)
        try perform(number, on: memory)
        return memory.state
    }
}

extension Bond {
    fileprivate var unauthenticated: Bond {
        var bond = self
        bond.keys.level.isAuthenticated = false
        return bond
    }
}
