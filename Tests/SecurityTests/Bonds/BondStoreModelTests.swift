import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import GATT
import SMP
import Testing

@testable import Security

/// Compares a store with a model that scans all its bonds each time and has no index.
@Suite struct BondStoreModelTests {
    /// Counts saves, and is full at times.
    private final class CountingStorage: BondStorage {
        let records: any RecordStorage = MemoryRecordStorage()
        static let full = BondError.tooLarge(place: "counted")
        private(set) var state: StoredBonds?
        private(set) var saves = 0
        var isFull = false

        var place: String { "counted" }
        func load() -> StoredBonds? { state }
        func save(_ state: StoredBonds) throws(BondError) {
            saves += 1
            if isFull { throw Self.full }
            self.state = state
        }
        func derive(_ purpose: String) -> [UInt8]? { nil }
    }

    private struct Model {
        static let capacity = 4
        var state: StoredBonds
        var kept: StoredBonds
        var saves = 1
        var evicted: [Bond] = []
        var failures = 0
        var isFull = false

        func bond(_ identifier: BondIdentifier) -> Bond? { state.bonds.first { $0.identifier == identifier } }
        func bond(of address: BluetoothAddress) -> Bond? { state.bonds.first { $0.address == address } }

        /// The part of a bond that is kept, apart from the size limits.
        private func bounded(_ bond: Bond) -> Bond {
            var bond = bond
            let isRandom = bond.address.kind == .randomDevice || bond.address.kind == .randomIdentity
            bond.address = BluetoothAddress(bond.address.value, kind: isRandom ? .randomDevice : .publicDevice)
            if bond.keys.identityKey == .zero { bond.keys.identityKey = nil }
            return bond
        }

        private func refuseStolenIdentity(_ new: Bond) throws(BondError) {
            let own = state.identity
            if new.address == own.address || new.keys.identityKey == own.key { throw .ownIdentity }
            for old in state.bonds where old.identifier != new.identifier {
                let keys = [old.keys.identityKey, new.keys.identityKey].compactMap(\.self)
                guard old.address == new.address || keys.count == 2 && keys[0] == keys[1] else { continue }
                throw .identityTaken(by: old.identifier, name: old.name)
            }
        }

        private mutating func save(_ next: StoredBonds) throws(BondError) {
            saves += 1
            if isFull { throw CountingStorage.full }
            (state, kept) = (next, next)
        }

        mutating func add(_ bond: Bond) throws(BondError) -> Bond {
            var (new, next) = (bounded(bond), state)
            try refuseStolenIdentity(new)
            next.uses += 1
            new.lastUse = next.uses
            var gone: [Bond] = []
            if let old = self.bond(new.identifier) {
                guard new.keys.level.isAtLeast(old.keys.level) else { throw .weaker(than: old.identifier) }
                if new.name == nil { new.name = old.name }
                next.bonds = next.bonds.map { $0.identifier == new.identifier ? new : $0 }
            } else {
                if next.bonds.count == Self.capacity {
                    let weak = next.bonds.filter { !$0.keys.level.isAuthenticated }
                    // The first of several with the same last use.
                    guard let least = weak.map(\.lastUse).min() else { throw .full(next.bonds.count) }
                    gone = Array(weak.filter { $0.lastUse == least }.prefix(1))
                    next.bonds.removeAll { $0 == gone[0] }
                }
                next.bonds.append(new)
            }
            try save(next)
            evicted += gone
            return new
        }

        mutating func update(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) throws(BondError) {
            guard let old = bond(identifier) else { throw .unknown(identifier) }
            var new = old
            change(&new)
            new.identifier = identifier
            new = bounded(new)
            guard new != old else { return }
            try refuseStolenIdentity(new)
            var next = state
            next.bonds = next.bonds.map { $0.identifier == identifier ? new : $0 }
            try save(next)
        }

        mutating func remove(_ identifier: BondIdentifier) throws(BondError) {
            guard bond(identifier) != nil else { throw .unknown(identifier) }
            var next = state
            next.bonds.removeAll { $0.identifier == identifier }
            try save(next)
        }

        mutating func use(_ identifier: BondIdentifier) {
            guard bond(identifier) != nil else { return }
            state.uses += 1
            for index in state.bonds.indices where state.bonds[index].identifier == identifier {
                state.bonds[index].lastUse = state.uses
            }
        }

        mutating func updateRecords(_ change: (inout ClientRecord) -> Void) {
            let old = state
            for index in state.bonds.indices {
                guard var record = state.bonds[index].record else { continue }
                change(&record)
                state.bonds[index].record = record
            }
            guard state != old else { return }
            saves += 1
            if isFull { failures += 1 } else { kept = state }
        }
    }

    private static let identifiers = (0..<7).map { Samples.bond($0).identifier }
    private static let adapter = Samples.adapter
    private static let levels = [
        Samples.weak, Samples.weak, Samples.strong,
        KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false),
        KeyLevel(keySize: 9, isAuthenticated: false, isSecureConnections: true),
    ]

    private let storage = CountingStorage()
    private let store: BondStore

    init() throws {
        store = try BondStore(
            storage: storage,
            adapter: Self.adapter,
            random: RandomSource(seed: 1),
            capacity: Model.capacity
        )
    }

    private func pick<Element>(_ elements: [Element], _ random: RandomSource) -> Element {
        elements[Int(random.below(UInt64(elements.count)))]
    }

    /// The values have few variants, so that bonds collide.
    private func address(_ random: RandomSource) -> BluetoothAddress {
        let kind = pick([BluetoothAddress.Kind.randomDevice, .randomDevice, .randomIdentity, .publicDevice], random)
        let number = random.below(12)
        return number == 0
            ? pick([Self.adapter.address, BluetoothAddress(Self.adapter.address.value, kind: .publicIdentity)], random)
            : BluetoothAddress(0xC000_0000_0000 | number, kind: kind)
    }

    private func key(_ random: RandomSource) -> Key128? {
        switch random.below(16) {
        case 0: store.identity.key
        case 1...4: .zero
        case 5...8: nil
        default: Samples.key(Int(random.below(9)), 2)
        }
    }

    private func bond(_ random: RandomSource) -> Bond {
        let (identifier, level) = (pick(Self.identifiers, random), pick(Self.levels, random))
        var bond = Bond(identifier: identifier, address: address(random), keys: PeerKeys(level: level))
        bond.keys.identityKey = key(random)
        bond.name = pick([nil, nil, "A", "B"], random)
        bond.isLost = random.below(2) == 0
        bond.lastUse = random.below(100)
        bond.record = pick([nil, ClientRecord(configurations: [3: .notify])], random)
        return bond
    }

    private func change(_ random: RandomSource) -> (inout Bond) -> Void {
        let other = bond(random)
        return switch random.below(7) {
        case 0: { $0.address = other.address }
        case 1: { $0.keys.identityKey = other.keys.identityKey }
        case 2: { $0.isLost = other.isLost }
        case 3: { $0 = other }
        case 4: { $0.record = other.record }
        // Equal last uses, as a file of another program may contain them.
        case 5: { $0.lastUse = other.lastUse % 3 }
        default: { _ in }
        }
    }

    private func result<Value>(_ body: () throws -> Value) -> Result<Value, BondError> {
        Result(catching: body).mapError { $0 as? BondError ?? .missing(place: "\($0)") }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func storesMatchTheModel(seed: UInt64) throws {
        let random = RandomSource(seed: seed)
        let first = try #require(storage.load())
        var model = Model(state: first, kept: first)
        var (evicted, failures): ([Bond], [BondError]) = ([], [])
        store.onEvict = { evicted.append($0) }
        store.onFailure = { failures.append($0) }
        for step in 0..<60 {
            let isFull = random.below(6) == 0
            (storage.isFull, model.isFull) = (isFull, isFull)
            let identifier = pick(Self.identifiers, random)
            switch random.below(8) {
            case 0...3:
                let bond = bond(random)
                let expected = result { try model.add(bond) }
                #expect(result { try store.add(bond) } == expected, "step \(step)")
            case 4, 5:
                let change = change(random)
                let expected = result { try model.update(identifier, change) }.map { true }
                #expect(result { try store.update(identifier, change) }.map { true } == expected, "step \(step)")
            case 6 where random.below(2) == 0:
                let expected = result { try model.remove(identifier) }.map { true }
                #expect(result { try store.remove(identifier) }.map { true } == expected, "step \(step)")
            case 6:
                store.use(identifier)
                model.use(identifier)
            default:
                let choice = pick([ClientConfiguration.notify, .indicate], random)
                store.updateRecords { $0.configurations[9] = choice }
                model.updateRecords { $0.configurations[9] = choice }
            }
            #expect(store.bonds == model.state.bonds && storage.state == model.kept, "step \(step)")
            #expect(storage.saves == model.saves && evicted == model.evicted, "step \(step)")
            #expect(failures == Array(repeating: CountingStorage.full, count: model.failures), "step \(step)")
            #expect(Self.identifiers.allSatisfy { store.bond($0) == model.bond($0) }, "step \(step)")
            let areFound = Self.identities.allSatisfy { store.bond(identity: $0.told) == model.bond(of: $0.kept) }
            #expect(areFound, "step \(step)")
        }
    }

    /// Each address as peers may send it, and as it is kept.
    private static let identities: [(told: BluetoothAddress, kept: BluetoothAddress)] = (1...11).flatMap { number in
        [
            (BluetoothAddress.Kind.randomDevice, BluetoothAddress.Kind.randomDevice), (.randomIdentity, .randomDevice),
            (.publicIdentity, .publicDevice),
        ].map { told, kept in
            let value = 0xC000_0000_0000 | UInt64(number)
            return (BluetoothAddress(value, kind: told), BluetoothAddress(value, kind: kept))
        }
    }
}
