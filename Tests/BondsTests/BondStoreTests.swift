import BluetoothTypes
import BondKillPoints
import Bonds
import Cryptography
import EventLoops
import GATT
import SMP
import Testing

@Suite struct BondStoreTests {
    let storage = MemoryBondStorage()

    func store(capacity: Int = BondStore.maximumBonds) throws -> BondStore {
        try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1), capacity: capacity)
    }

    @Test func an_identity_is_made_once() throws {
        let first = try store().identity
        #expect(first.address == Samples.adapter.address)
        #expect(first.key != .zero)
        let again = try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 2))
        #expect(again.identity == first)
    }

    @Test func an_adapter_without_an_address_gets_a_static_one() throws {
        let nameless = AdapterIdentity(address: .none)
        let store = try BondStore(storage: storage, adapter: nameless, random: RandomSource(seed: 1))
        #expect(store.identity.address.randomKind == .static)
    }

    @Test func a_bond_is_found_by_identity_and_identifier_after_a_restart() throws {
        let bond = try store().add(Samples.bond(7))
        let again = try store()
        #expect(again.bond(identity: Samples.address(7)) == bond)
        #expect(again.bond(bond.identifier) == bond)
        let resolved = BluetoothAddress(Samples.address(7).value, kind: .randomIdentity)
        #expect(again.bond(identity: resolved) == bond)
        #expect(again.bond(identity: Samples.address(8)) == nil)
    }

    @Test func behaviour_6_18_a_peer_that_pairs_again_keeps_its_identifier() throws {
        let store = try store()
        var old = Samples.bond(7)
        old.name = "Thermometer"
        let first = try store.add(old)
        let second = try store.add(Samples.bond(7, level: Samples.strong))
        #expect(second.identifier == first.identifier && second.keys.level == Samples.strong)
        #expect(second.name == "Thermometer")
        #expect(store.bonds == [second])
    }

    @Test(arguments: [
        KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true),
        KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false),
        KeyLevel(keySize: 7, isAuthenticated: true, isSecureConnections: true),
    ])
    func AB_S10_a_weaker_key_never_replaces_a_stronger_one(level: KeyLevel) throws {
        let store = try store()
        let strong = try store.add(Samples.bond(7, level: Samples.strong))
        #expect(throws: BondError.weaker(than: strong.identifier)) { try store.add(Samples.bond(7, level: level)) }
        // Nor does a peer that has shown its key get a worse one under another address.
        var moved = Samples.bond(7, level: level)
        moved.address = Samples.address(8)
        #expect(throws: BondError.weaker(than: strong.identifier)) { try store.add(moved) }
        #expect(store.bonds == [strong])
        #expect(storage.load()?.bonds == [strong])
        // Once a person has forgotten the bond, the peer may pair in any way.
        try store.remove(strong.identifier)
        try store.add(Samples.bond(7, level: level))
    }

    @Test func AB_S14_10000_peers_leave_the_authenticated_bonds_and_the_latest_others() throws {
        let store = try store(capacity: 50)
        var evicted: [Bond] = []
        store.onEvict = { evicted.append($0) }
        let kept = try (0..<10).map { try store.add(Samples.bond($0, level: Samples.strong)) }
        for number in 10..<10_010 {
            try store.add(Samples.bond(number))
            #expect(store.bonds.count <= 50)
        }
        #expect(Array(store.bonds.prefix(10)) == kept)
        #expect(store.bonds.dropFirst(10).map(\.address) == (9970..<10_010).map(Samples.address))
        #expect(evicted.map(\.address) == (10..<9970).map(Samples.address))
    }

    @Test func AB_S14_a_store_full_of_authenticated_bonds_refuses() throws {
        let store = try store(capacity: 3)
        for number in 0..<3 { try store.add(Samples.bond(number, level: Samples.strong)) }
        let before = store.bonds
        #expect(throws: BondError.full(3)) { try store.add(Samples.bond(3, level: Samples.strong)) }
        #expect(store.bonds == before)
        // One that is there already may pair again.
        try store.add(Samples.bond(1, level: Samples.strong))
    }

    @Test func AB_S14_a_peer_in_use_outlives_those_that_are_not() throws {
        let store = try store(capacity: 2)
        let first = try store.add(Samples.bond(0))
        try store.add(Samples.bond(1))
        store.use(first.identifier)
        try store.add(Samples.bond(2))
        #expect(store.bonds.map(\.address) == [0, 2].map(Samples.address))
    }

    @Test func AB_H08_the_bonds_of_one_adapter_are_not_served_to_another() throws {
        try store().add(Samples.bond(7))
        let other = AdapterIdentity(address: Samples.adapter.address, details: "another that says the same address")
        let refusal = BondError.otherAdapter(place: "memory", owner: Samples.adapter, present: other)
        #expect(throws: refusal) { try BondStore(storage: storage, adapter: other, random: RandomSource(seed: 1)) }
        let adopted = try BondStore(storage: storage, adapter: other, adopting: true, random: RandomSource(seed: 1))
        #expect(adopted.bonds.count == 1)
        #expect(throws: BondError.self) { try store() }
    }

    @Test func what_cannot_be_saved_does_not_happen() throws {
        let store = try store()
        let bond = try store.add(Samples.bond(7))
        let failure = BondError.system(place: "memory", doing: "written", reason: "no space left on device")
        storage.failure = failure
        #expect(throws: failure) { try store.add(Samples.bond(8)) }
        #expect(throws: failure) { try store.update(bond.identifier) { $0.isLost = true } }
        #expect(throws: failure) { try store.remove(bond.identifier) }
        #expect(store.bonds == [bond])
        // A change that changes nothing needs no saving.
        try store.update(bond.identifier) { $0.isLost = false }
    }

    @Test func the_records_of_clients_follow_the_database() throws {
        let store = try store()
        let bond = try store.add(Samples.bond(7))
        try store.update(bond.identifier) { $0.record = ClientRecord(configurations: [3: .notify, 9: .indicate]) }
        let hash = try #require(DatabaseHash([UInt8](repeating: 5, count: 16)))
        store.updateRecords { $0.databaseChanged(8...12, hash: hash) }
        let record = try #require(try self.store().bond(bond.identifier)?.record)
        #expect(record.configurations == [3: .notify])
        #expect(record.missedChanges == [8...12])
        storage.failure = .tooLarge(place: "memory")
        var failures: [BondError] = []
        store.onFailure = { failures.append($0) }
        store.updateRecords { $0.databaseChanged(3...3, hash: hash) }
        #expect(store.bond(bond.identifier)?.record?.configurations == [:])
        #expect(failures == [.tooLarge(place: "memory")])
    }

    @Test func nothing_that_is_printed_holds_a_key() throws {
        let bond = try store().add(Samples.bond(0xABCDEF))
        let key = Samples.key(0xABCDEF, 1)
        var dumped = ""
        dump(bond, to: &dumped)
        let texts = ["\(bond)", String(reflecting: bond), "\(bond.keys)", String(describing: storage.load()), dumped]
        for text in texts {
            #expect(!text.lowercased().contains(hexadecimal(key.bytes).suffix(6)))
            #expect(!text.contains("\(key.block.low)"))
        }
    }
}
