import BluetoothTypes
import BondKillPoints
import Cryptography
import EventLoops
import SMP
import Security
import Testing

/// Peers that claim the identity of another device.
@Suite struct StolenBondIdentityTests {
    let storage = MemoryBondStorage()

    func store() throws -> BondStore {
        try BondStore(storage: storage, adapter: Samples.adapter, random: RandomSource(seed: 1))
    }

    static let levels = [
        Samples.weak, Samples.strong, KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false),
    ]

    @Test("AB-S10, AB-S11: a resolving key of another bond is refused, whatever the levels", arguments: levels, levels)
    func aResolvingKeyOfAnotherBondIsRefused(old: KeyLevel, new: KeyLevel) throws {
        let store = try store()
        var victim = Samples.bond(7, level: old)
        victim.name = "Thermometer"
        let kept = try store.add(victim)
        var attacker = Samples.bond(8, level: new)
        attacker.keys.identityKey = kept.keys.identityKey
        let refusal = BondError.identityTaken(by: kept.identifier, name: "Thermometer")
        #expect(throws: refusal) { try store.add(attacker) }
        #expect(store.bonds == [kept])
        #expect(storage.load()?.bonds == [kept])
        // The error names the bond, and suggests an action.
        #expect("\(refusal)".contains("\"Thermometer\"") && "\(refusal)".contains("\(kept.identifier)"))
        #expect("\(refusal)".contains("forget"))
        // The user has the final decision.
        try store.remove(kept.identifier)
        try store.add(attacker)
    }

    @Test("AB-S10: an identity address of another bond is refused, whatever the levels", arguments: levels, levels)
    func anIdentityAddressOfAnotherBondIsRefused(old: KeyLevel, new: KeyLevel) throws {
        let store = try store()
        let kept = try store.add(Samples.bond(7, level: old))
        var attacker = Samples.bond(8, level: new)
        attacker.keys.identityKey = Samples.key(8, 2)
        for kind in [BluetoothAddress.Kind.randomDevice, .randomIdentity] {
            attacker.address = BluetoothAddress(kept.address.value, kind: kind)
            #expect(throws: BondError.identityTaken(by: kept.identifier, name: nil)) { try store.add(attacker) }
        }
        #expect(store.bonds == [kept])
        #expect(storage.load()?.bonds == [kept])
    }

    @Test(
        "AB-S10, AB-S11: the fixed address of another bond's pairing is refused as an identity, and the other way round"
    )
    func theAddressOfAnotherPairingIsRefused() throws {
        let store = try store()
        var first = Samples.bond(7)
        first.pairingAddress = Samples.address(70)
        first = try store.add(first)
        #expect(store.bond(identity: Samples.address(7)) == first)
        #expect(store.bond(identity: Samples.address(70)) == first)
        for (identity, pairing) in [(70, nil), (8, 70), (8, 7)] as [(Int, Int?)] {
            var attacker = Samples.bond(8)
            attacker.address = Samples.address(identity)
            attacker.pairingAddress = pairing.map(Samples.address)
            #expect(throws: BondError.identityTaken(by: first.identifier, name: nil)) { try store.add(attacker) }
        }
        var double = Samples.bond(8)
        double.pairingAddress = store.identity.address
        #expect(throws: BondError.ownIdentity) { try store.add(double) }
        // What a peer can provide again does not include the address.
        store.note(first.identifier) { $0.pairingAddress = nil }
        #expect(store.bonds == [first])
        // A pairing from the identity address adds none.
        first.pairingAddress = first.address
        #expect(try store.add(first).pairingAddress == nil)
        #expect(store.bond(identity: Samples.address(70)) == nil)
    }

    @Test("a peer that has shown its key may change its address or its resolving key")
    func aPeerThatHasShownItsKeyMayChangeItsIdentity() throws {
        let store = try store()
        let first = try store.add(Samples.bond(7))
        var moved = first
        moved.address = Samples.address(9)
        #expect(try store.add(moved).keys.identityKey == first.keys.identityKey)
        moved.keys.identityKey = Samples.key(9, 9)
        try store.add(moved)
        #expect(store.bonds.map(\.address) == [Samples.address(9)])
    }

    @Test("AB-S11: a peer that claims our own resolving key or address is refused")
    func our_own_resolving_key_or_address_as_a_peers_is_refused() throws {
        let store = try store()
        var echo = Samples.bond(7, level: Samples.strong)
        echo.keys.identityKey = store.identity.key
        #expect(throws: BondError.ownIdentity) { try store.add(echo) }
        for kind in [BluetoothAddress.Kind.publicDevice, .publicIdentity] {
            var double = Samples.bond(7, level: Samples.strong)
            double.address = BluetoothAddress(store.identity.address.value, kind: kind)
            #expect(throws: BondError.ownIdentity) { try store.add(double) }
        }
        // Nor can an existing bond take such an identity later.
        let bond = try store.add(Samples.bond(7))
        #expect(throws: BondError.ownIdentity) {
            try store.update(bond.identifier) { $0.keys.identityKey = store.identity.key }
        }
        #expect(store.bonds == [bond])
    }

    @Test("AB-S11: a bond's resolving key of zeroes counts as none")
    func a_resolving_key_of_zeroes_is_none() throws {
        let store = try store()
        for number in 0..<3 {
            var bond = Samples.bond(number)
            bond.keys.identityKey = .zero
            #expect(try store.add(bond).keys.identityKey == nil)
        }
        #expect(storage.load()?.bonds.count == 3)
    }
}
