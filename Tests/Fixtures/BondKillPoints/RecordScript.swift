import EventLoops
import Security

/// Operations on records: creation, replacement by longer and shorter ones, and removal. The same seed produces the
/// same operations.
package struct RecordScript: Operations {
    /// The slots in use, of each kind.
    package static let slots: [RecordSlot] = [
        .app(0), .app(9), .app(63), .permissions, .names, .tables, .controllers, .accessories,
    ]

    package let seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
    }

    package func perform(_ number: Int, on storage: any BondStorage) throws {
        let change = change(number)
        if let octets = change.octets {
            try storage.records.save(octets, in: change.slot)
        } else {
            try storage.records.remove(change.slot)
        }
    }

    package func state(in storage: any BondStorage) throws -> [RecordSlot: [UInt8]] {
        var state: [RecordSlot: [UInt8]] = [:]
        for slot in Self.slots { state[slot] = try storage.records.load(slot) }
        return state
    }

    package func state(after number: Int, from old: [RecordSlot: [UInt8]]) -> [RecordSlot: [UInt8]] {
        let change = change(number)
        var new = old
        new[change.slot] = change.octets
        return new
    }

    private func change(_ number: Int) -> (slot: RecordSlot, octets: [UInt8]?) {
        let random = RandomSource(seed: seed &+ UInt64(number))
        let slot = Self.slots[Int(random.below(UInt64(Self.slots.count)))]
        // The first operation creates the secret, and all contents differ.
        guard number == 0 || random.below(4) > 0 else { return (slot, nil) }
        return (slot, random.bytes(8 + Int(random.below(400))))
    }
}
