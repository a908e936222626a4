import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import GATT
import SMP
import Testing

@testable import Security

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

    @Test("a bond is found by identity and by identifier after a restart")
    func aBondIsFoundAfterARestart() throws {
        let bond = try store().add(Samples.bond(7))
        let again = try store()
        #expect(again.bond(identity: Samples.address(7)) == bond)
        #expect(again.bond(bond.identifier) == bond)
        let resolved = BluetoothAddress(Samples.address(7).value, kind: .randomIdentity)
        #expect(again.bond(identity: resolved) == bond)
        #expect(again.bond(identity: Samples.address(8)) == nil)
    }

    @Test("behaviour 6.18: a peer that pairs again keeps its identifier")
    func a_peer_that_pairs_again_keeps_its_identifier() throws {
        let store = try store()
        var old = Samples.bond(7)
        old.name = "Thermometer"
        let first = try store.add(old)
        let second = try store.add(Samples.bond(7, level: Samples.strong))
        #expect(second.identifier == first.identifier)
        #expect(second.keys.level == Samples.strong)
        #expect(second.name == "Thermometer")
        #expect(store.bonds == [second])
    }

    @Test(
        "AB-S10: a weaker key never replaces a stronger one",
        arguments: [
            KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true),
            KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false),
            KeyLevel(keySize: 7, isAuthenticated: true, isSecureConnections: true),
        ]
    )
    func a_weaker_key_never_replaces_a_stronger_one(level: KeyLevel) throws {
        let store = try store()
        let strong = try store.add(Samples.bond(7, level: Samples.strong))
        #expect(throws: BondError.weaker(than: strong.identifier)) { try store.add(Samples.bond(7, level: level)) }
        // Nor is a bonded peer's key replaced by a weaker one under another address.
        var moved = Samples.bond(7, level: level)
        moved.address = Samples.address(8)
        #expect(throws: BondError.weaker(than: strong.identifier)) { try store.add(moved) }
        #expect(store.bonds == [strong])
        #expect(storage.load()?.bonds == [strong])
        // Once the user has forgotten the bond, the peer may pair in any way.
        try store.remove(strong.identifier)
        try store.add(Samples.bond(7, level: level))
    }

    @Test("AB-S14: 10,000 peers leave the authenticated bonds and the latest others")
    func tenThousandPeersLeaveTheAuthenticatedBonds() throws {
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

    @Test("AB-S14: a store full of authenticated bonds refuses another bond")
    func a_store_full_of_authenticated_bonds_refuses() throws {
        let store = try store(capacity: 3)
        for number in 0..<3 { try store.add(Samples.bond(number, level: Samples.strong)) }
        let before = store.bonds
        #expect(throws: BondError.full(3)) { try store.add(Samples.bond(3, level: Samples.strong)) }
        #expect(store.bonds == before)
        // A peer that is already bonded may pair again.
        try store.add(Samples.bond(1, level: Samples.strong))
    }

    @Test("AB-S14: a peer in use stays, and unused ones are evicted")
    func a_peer_in_use_outlives_those_that_are_not() throws {
        let store = try store(capacity: 2)
        let first = try store.add(Samples.bond(0))
        try store.add(Samples.bond(1))
        store.use(first.identifier)
        try store.add(Samples.bond(2))
        #expect(store.bonds.map(\.address) == [0, 2].map(Samples.address))
    }

    /// Everything that the maker of an adapter can choose is the same.
    @Test("AB-H08: an adapter with the same address at another place gets no bonds")
    func theSameAddressAtAnotherPlaceGetsNoBonds() throws {
        let here = AdapterIdentity(address: Samples.adapter.address, company: 2, place: "tcp:127.0.0.1:6402")
        for address in [Samples.adapter.address, .none] {
            let storage = MemoryBondStorage()
            var owner = here
            owner.address = address
            try BondStore(storage: storage, adapter: owner, random: RandomSource(seed: 1)).add(Samples.bond(7))
            let kept = storage.load()
            for change in [
                { $0.place = "tcp:127.0.0.1:6403" }, { $0.place = "" }, { $0.company = 3 },
                { $0.address = Samples.address(3) },
            ] as [(inout AdapterIdentity) -> Void] {
                var other = owner
                change(&other)
                let refusal = BondError.otherAdapter(place: "memory", owner: owner, present: other)
                #expect(throws: refusal) {
                    try BondStore(storage: storage, adapter: other, random: RandomSource(seed: 1))
                }
                #expect("\(refusal)".contains("harald bonds adopt"))
                #expect(storage.load() == kept)
            }
        }
    }

    @Test("a store without bonds is used with any adapter, under a new identity")
    func anEmptyStoreBelongsToNoAdapter() throws {
        let first = try store().identity
        var other = Samples.adapter
        other.place = "another socket"
        let now = try BondStore(storage: storage, adapter: other, random: RandomSource(seed: 2))
        #expect(now.adapter == other)
        #expect(now.identity != first)
        let bond = try now.add(Samples.bond(7))
        #expect(try BondStore(storage: storage, adapter: other, random: RandomSource(seed: 3)).bonds == [bond])
        #expect(throws: BondError.self) { try store() }
    }

    @Test("AB-H08: the user can let one adapter replace another")
    func anAdapterTakesThePlaceOfAnotherWhenAPersonSaysSo() throws {
        let bond = try store().add(Samples.bond(7))
        let identity = try store().identity
        var other = Samples.adapter
        other.place = "another socket"
        let random = RandomSource(seed: 1)
        let adopted = try BondStore(storage: storage, adapter: other, adopting: true, random: random)
        #expect(adopted.bonds == [bond])
        #expect(adopted.identity == identity)
        #expect(adopted.adapter == other)
        // The new adapter owns the bonds from now on, and the old one has lost them.
        #expect(try BondStore(storage: storage, adapter: other, random: random).bonds == [bond])
        let refusal = BondError.otherAdapter(place: "memory", owner: other, present: Samples.adapter)
        #expect(throws: refusal) { try store() }
    }

    // MARK: Peers that exhaust the space

    /// The largest table that a client accepts from a peer: every handle is used.
    private static let largestCache: AttributeCache = {
        var cache = AttributeCache(hash: DatabaseHash([UInt8](repeating: 1, count: 16)))
        let uuid = BluetoothUUID(high: 1, low: 2)
        let services = (0..<UInt16(GATTClient.maximumServices)).map {
            DiscoveredService(handles: (1 + $0 * 255)...(255 + $0 * 255), uuid: uuid)
        }
        cache.services = services
        for service in services {
            let first = service.handles.lowerBound
            cache.includes[first] = Array(services.prefix(GATTClient.maximumIncludes))
            cache.characteristics[first] = (0..<UInt16(85)).map { index in
                let value = first + 1 + 3 * index
                cache.descriptors[value] = [DiscoveredDescriptor(handle: value &+ 1, uuid: uuid)]
                return DiscoveredCharacteristic(
                    declaration: value - 1,
                    value: value,
                    end: value &+ 1,
                    properties: .read,
                    uuid: uuid
                )
            }
        }
        return cache
    }()

    @Test("AB-S14: a table or record that is too large is dropped from its bond")
    func aTableThatTakesTheRoomOfOthersIsNotKept() throws {
        let store = try store()
        var bond = Samples.bond(7)
        bond.cache = Self.largestCache
        bond.record = Samples.record(7)
        let kept = try store.add(bond)
        #expect(kept.cache == nil)
        #expect(kept.record == bond.record)
        #expect(kept.keys == bond.keys)
        // An ordinary cache is kept. A later update that is too large removes it.
        try store.update(kept.identifier) { $0.cache = Samples.cache(services: 20) }
        #expect(store.bond(kept.identifier)?.cache == Samples.cache(services: 20))
        try store.update(kept.identifier) { $0.cache = Self.largestCache }
        #expect(store.bond(kept.identifier)?.cache == nil)
        // Records cannot grow without limit either.
        try store.update(kept.identifier) { $0.record = Self.record(choices: 20_000) }
        #expect(store.bond(kept.identifier)?.record == nil)
        try store.update(kept.identifier) { $0.record = Self.record(choices: 1_000) }
        store.updateRecords { $0 = Self.record(choices: 20_000) }
        #expect(store.bond(kept.identifier)?.record == nil)
    }

    private static func record(choices: Int) -> ClientRecord {
        ClientRecord(
            configurations: Dictionary(uniqueKeysWithValues: (1...choices).map { (UInt16($0), .notify) }),
            features: .robustCaching,
            databaseHash: DatabaseHash([UInt8](repeating: 5, count: 16)),
            isChangeAware: false,
            missedChanges: (0..<100).map { ($0 * 3)...($0 * 3 + 1) }
        )
    }

    /// A characteristic with a configuration uses three attributes.
    @Test("everything that a client can configure in our largest database is stored")
    func everyChoiceOfAClientIsKept() throws {
        let store = try store()
        var bond = Samples.bond(7)
        bond.record = Self.record(choices: GATTDatabase.maximumAttributes / 3)
        #expect(try store.add(bond).record == bond.record)
    }

    @Test("AB-S14: the maximum number of bonds fits with the maximum data of each")
    func asManyBondsAsThereMayBeFit() throws {
        let store = try store()
        var bond = Samples.fullBond(7)
        bond.name = String(repeating: "n", count: Bond.maximumName)
        bond.record = Self.record(choices: 1_500)
        bond.cache = AttributeCache()
        bond.cache?.descriptors[1] = (0..<480).map {
            DiscoveredDescriptor(handle: $0, uuid: BluetoothUUID(high: 1, low: 2))
        }
        let kept = try store.add(bond)
        #expect(kept.record != nil)
        #expect(kept.cache != nil)
        let secret = BondFormatTests.secret
        let one = BondFile.encode(try #require(storage.load()), secret).count
        try store.remove(kept.identifier)
        let none = BondFile.encode(try #require(storage.load()), secret).count
        #expect(one - none <= Bond.maximumSize)
        #expect(one - none > Bond.maximumSize - 512)
        let most = none + AdapterIdentity.maximumPlace + BondStore.maximumBonds * Bond.maximumSize
        #expect(most <= BondFile.maximumSize)
    }

    @Test("AB-S14: an evicted bond is gone for good before the user is notified")
    func evictionPrecedesItsNotice() throws {
        let store = try store(capacity: 2)
        var told: [(bond: Bond, kept: [Bond])] = []
        store.onEvict = { [storage] in told.append(($0, storage.load()?.bonds ?? [])) }
        let first = try store.add(Samples.bond(0))
        try store.add(Samples.bond(1))
        storage.failure = .tooLarge(place: "memory")
        #expect(throws: BondError.tooLarge(place: "memory")) { try store.add(Samples.bond(2)) }
        #expect(told.isEmpty)
        #expect(store.bonds.map(\.address) == [0, 1].map(Samples.address))
        storage.failure = nil
        // A bond refused for another reason evicts none.
        var impostor = Samples.bond(3)
        impostor.keys.identityKey = first.keys.identityKey
        #expect(throws: BondError.self) { try store.add(impostor) }
        #expect(told.isEmpty)
        try store.add(Samples.bond(2))
        #expect(told.map(\.bond) == [first])
        #expect(told.first?.kept.map(\.address) == [1, 2].map(Samples.address))
        #expect(try self.store(capacity: 2).bond(first.identifier) == nil)
    }

    @Test func unsaved_changes_do_not_happen() throws {
        let store = try store()
        let bond = try store.add(Samples.bond(7))
        let failure = BondError.system(place: "memory", doing: "written", reason: "no space left on device")
        storage.failure = failure
        #expect(throws: failure) { try store.add(Samples.bond(8)) }
        #expect(throws: failure) { try store.update(bond.identifier) { $0.isLost = true } }
        #expect(throws: failure) { try store.remove(bond.identifier) }
        #expect(store.bonds == [bond])
        // An update without a change is not saved.
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

    @Test("a change whose deferred save failed is saved with the next change, or at the end", arguments: [false, true])
    func aFailedDeferredSave(isInBackground: Bool) throws {
        let loop: (any EventLoop)? = isInBackground ? VirtualEventLoop() : nil
        let store = try BondStore(
            storage: storage,
            adapter: Samples.adapter,
            random: RandomSource(seed: 1),
            loop: loop
        )
        var failures: [BondError] = []
        store.onFailure = { failures.append($0) }
        let bond = try store.add(Samples.bond(7))
        storage.failure = .tooLarge(place: "memory")
        store.note(bond.identifier) { $0.name = "Thermometer" }
        // There is still no room at the end.
        store.flush()
        #expect(failures == [.tooLarge(place: "memory"), .tooLarge(place: "memory")])
        storage.failure = nil
        store.flush()
        #expect(storage.load()?.bonds.first?.name == "Thermometer")
        // What was saved with another change is not saved again.
        storage.failure = .tooLarge(place: "memory")
        store.note(bond.identifier) { $0.name = "Scale" }
        storage.failure = nil
        try store.update(bond.identifier) { $0.isLost = true }
        #expect(storage.load()?.bonds.first?.name == "Scale")
        storage.failure = .tooLarge(place: "memory")
        store.flush()
        #expect(failures.count == 3)
    }

    @Test func printed_bonds_contain_no_keys() throws {
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
