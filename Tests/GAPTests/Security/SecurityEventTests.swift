import ATT
import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import GATT
import HCI
import L2CAP
import SMP
import Testing

@testable import GAP

/// What becomes of the controller's events about encryption, on a controller that says whatever it likes.
@Suite struct SecurityEventTests {
    /// A host with one link.
    private struct Bench {
        let peer = ScriptedPeer()
        let security: DeviceSecurity
        let link: SecureLink
        let l2cap: L2CAPConnection
        let bonds: BondStore
        static let handle = ConnectionHandle(rawValue: 0x40)
        static let address = BluetoothAddress(0xC0FF_EE00_0002, kind: .publicDevice)

        init(_ role: LERole, bond: Bond? = nil, from address: BluetoothAddress = Self.address) throws {
            bonds = try BondStore(
                storage: MemoryBondStorage(),
                adapter: AdapterIdentity(address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)),
                random: RandomSource(seed: 1)
            )
            if let bond { try bonds.add(bond) }
            peer.features = [.encryption, .extendedAdvertising]
            peer.up()
            let security = DeviceSecurity(
                host: peer.host,
                loop: peer.loop,
                random: RandomSource(seed: 2),
                bonds: bonds,
                logger: peer.logger
            )
            self.security = security
            var made: (SecureLink, L2CAPConnection)?
            let loop = peer.loop
            peer.host.onConnection = { connection in
                let l2capRole: L2CAPConnection.Role = role == .central ? .central : .peripheral
                let l2cap = L2CAPConnection(link: connection, role: l2capRole, loop: loop)
                let own = BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)
                made = (security.attach(connection, l2cap, ownAddress: own), l2cap)
            }
            peer.inject(Self.connection(role, address))
            (link, l2cap) = try #require(made)
        }

        static func connection(_ role: LERole, _ address: BluetoothAddress) -> LEEnhancedConnectionComplete {
            LEEnhancedConnectionComplete(
                handle: handle,
                role: role,
                peerAddress: address,
                interval: 24,
                latency: 0,
                supervisionTimeout: 72,
                centralClockAccuracy: LEClockAccuracy(rawValue: 0)
            )
        }

        func change(_ state: UInt8, _ status: HCIStatus = .success) {
            peer.inject(EncryptionChange(status: status, handle: Self.handle, state: EncryptionState(rawValue: state)))
        }

        var disconnects: [Disconnect] { peer.commands.compactMap { $0 as? Disconnect } }
        var protection: LinkProtection { l2cap.protection }
    }

    private static let key = Key128(Block128(high: 1, low: 2))

    private static func bond(
        _ address: BluetoothAddress = Bench.address,
        authenticated: Bool = true,
        secureConnections: Bool = true,
        keySize: Int = 16
    ) -> Bond {
        let level = KeyLevel(keySize: keySize, isAuthenticated: authenticated, isSecureConnections: secureConnections)
        var keys = PeerKeys(level: level)
        keys.localKey = EncryptionKey(key: key)
        keys.peerKey = EncryptionKey(key: key)
        return Bond(identifier: BondIdentifier(high: 7, low: 7), address: address, keys: keys)
    }

    @Test(arguments: [LERole.central, .peripheral])
    func AB_H05_encryptionThatNobodyAskedForRaisesNothing(role: LERole) throws {
        let bench = try Bench(role)
        bench.change(1)
        bench.peer.inject(
            EncryptionChangeV2(handle: Bench.handle, state: EncryptionState(rawValue: 1), keySize: 16)
        )
        bench.peer.inject(EncryptionKeyRefreshComplete(status: .success, handle: Bench.handle))
        #expect(!bench.link.linkSecurity.isEncrypted && !bench.protection.isEncrypted)
        #expect(!bench.link.manager.encryption.isEncrypted)
    }

    @Test func AB_H05_aStrangersKeyRequestIsAnsweredWithNo() throws {
        let bench = try Bench(.peripheral)
        for handle in [Bench.handle, ConnectionHandle(rawValue: 0x99)] {
            bench.peer.inject(LELongTermKeyRequest(handle: handle, random: 0, encryptedDiversifier: 0))
        }
        // The host itself does not believe in the link that there is not.
        #expect(bench.peer.commands.count { $0 is LELongTermKeyRequestNegativeReply } == 1)
        #expect(!bench.peer.commands.contains { $0 is LELongTermKeyRequestReply })
    }

    @Test func behaviour_6_11_aBondedPeerIsEncryptedAtOnce() throws {
        let bench = try Bench(.central, bond: Self.bond())
        let command = try #require(bench.peer.commands.first as? LEEnableEncryption)
        #expect(command.longTermKey.bytes == Self.key.littleEndianBytes && command.random == 0)
        var results: [Bool] = []
        bench.link.prepare { results.append($0.isSuccess) }
        #expect(results.isEmpty && bench.link.linkSecurity.hasKey && !bench.link.linkSecurity.isEncrypted)
        bench.change(1)
        #expect(results == [true])
        #expect(bench.link.linkSecurity.isEncrypted && bench.link.linkSecurity.isAuthenticated)
        #expect(bench.protection == LinkProtection(hasKey: true, isAuthenticated: true))
        bench.link.prepare { results.append($0.isSuccess) }
        #expect(results == [true, true])
    }

    @Test func aPeripheralLeavesEncryptionToTheCentral() throws {
        let bench = try Bench(.peripheral, bond: Self.bond())
        #expect(bench.peer.commands.isEmpty)
    }

    @Test func aPeripheralAnswersWithTheBondsKey() throws {
        let bench = try Bench(.peripheral, bond: Self.bond())
        bench.peer.inject(LELongTermKeyRequest(handle: Bench.handle, random: 0, encryptedDiversifier: 0))
        let reply = try #require(bench.peer.commands.last as? LELongTermKeyRequestReply)
        #expect(reply.longTermKey.bytes == Self.key.littleEndianBytes)
        #expect(!bench.link.linkSecurity.isEncrypted)
        bench.peer.inject(
            EncryptionChangeV2(handle: Bench.handle, state: EncryptionState(rawValue: 1), keySize: 16)
        )
        #expect(bench.link.linkSecurity.isEncrypted)
        // Legacy numbers do not name a Secure Connections key.
        bench.peer.inject(LELongTermKeyRequest(handle: Bench.handle, random: 1, encryptedDiversifier: 0))
        #expect(bench.peer.commands.last is LELongTermKeyRequestNegativeReply)
    }

    @Test func aKeyThatThePeerDoesNotHaveIsNotReplaced() throws {
        let bench = try Bench(.central, bond: Self.bond())
        var results: [Result<Void, SecurityError>] = []
        var lost = 0
        bench.link.onBondLost = { lost += 1 }
        bench.link.prepare { results.append($0) }
        bench.change(0, .pinOrKeyMissing)
        #expect(results.first?.error == .peerLostKey && lost == 1)
        #expect(bench.bonds.bonds.first?.isLost == true && bench.link.bond?.isLost == true)
        #expect(bench.bonds.bonds.first?.keys.peerKey?.key == Self.key)
        // It heals when the peer has the key after all.
        bench.link.secure(.encrypted) { _ in }
        bench.change(1)
        #expect(bench.bonds.bonds.first?.isLost == false && bench.link.linkSecurity.isEncrypted)
    }

    @Test func aControllerThatDoesNotEncryptIsTold() throws {
        let bench = try Bench(.central, bond: Self.bond())
        bench.change(0, .connectionTimeout)
        var result: Result<Void, SecurityError>?
        bench.peer.refuses[LEEnableEncryption.opcode] = .commandDisallowed
        bench.link.secure(.encrypted) { result = $0 }
        bench.peer.run()
        #expect(result?.error == .encryptionFailed)
    }

    @Test func aLinkThatLosesItsEncryptionEnds() throws {
        let bench = try Bench(.central, bond: Self.bond())
        bench.change(1)
        bench.change(0)
        #expect(bench.disconnects.map(\.reason) == [.authenticationFailure])
        #expect(!bench.link.linkSecurity.isEncrypted && !bench.protection.isEncrypted)
    }

    @Test func aLinkWithoutAuthenticatedPacketsEnds() throws {
        let bench = try Bench(.central, bond: Self.bond())
        bench.change(1)
        bench.peer.inject(AuthenticatedPayloadTimeoutExpired(handle: Bench.handle))
        #expect(bench.disconnects.map(\.reason) == [.authenticationFailure])
    }

    @Test func aForgottenBondTakesItsLinkWithIt() throws {
        let bench = try Bench(.central, bond: Self.bond())
        bench.change(1)
        try bench.security.forget(BondIdentifier(high: 7, low: 7))
        #expect(bench.bonds.bonds.isEmpty && bench.link.bond == nil && bench.disconnects.count == 1)
    }

    @Test func AB_S07_anOldBondThatIsWorseThanTheModeProtectsNothing() throws {
        let bench = try Bench(.central, bond: Self.bond(secureConnections: false))
        bench.change(1)
        #expect(bench.link.linkSecurity.isEncrypted)
        bench.security.configuration = .secureConnectionsOnly
        #expect(bench.link.linkSecurity.isSecureConnectionsOnly)
        #expect(bench.link.linkSecurity.refusal(of: .encrypted) == .insufficientAuthentication)
        #expect(bench.protection.refusal(of: ChannelRequirement(.encrypted)) == .insufficientAuthentication)
        bench.security.configuration = PairingConfiguration()
        #expect(bench.link.linkSecurity.refusal(of: .authenticated) == nil)
    }

    @Test func AB_G03_aPrivateAddressFindsTheBondAndProvesNothing() throws {
        let irk = Key128(Block128(high: 3, low: 4))
        var bond = Self.bond()
        bond.keys.identityKey = irk
        let part: UInt32 = 0x40_1234
        let address = BluetoothAddress(UInt64(part) << 24 | UInt64(Toolbox.ah(irk, part)), kind: .randomDevice)
        let bench = try Bench(.peripheral, bond: bond, from: address)
        #expect(bench.link.bond?.identifier == bond.identifier && bench.link.peer == Bench.address)
        // Who replays it has no key.
        #expect(!bench.link.linkSecurity.isEncrypted && !bench.protection.isEncrypted)
        for requirement in SecurityRequirement.cases.dropFirst() {
            #expect(bench.link.linkSecurity.refusal(of: requirement) == .insufficientEncryption)
        }
    }

    @Test func aControllersIdentityIsAnIdentity() throws {
        let resolved = BluetoothAddress(Bench.address.value, kind: .publicIdentity)
        let bench = try Bench(.peripheral, bond: Self.bond(), from: resolved)
        #expect(bench.link.bond != nil)
    }

    @Test func AB_S10_nobodyTakesTheIdentityOfABondedPeer() throws {
        let stranger = BluetoothAddress(0xC000_0000_0099, kind: .randomDevice)
        let bench = try Bench(.central, bond: Self.bond(), from: stranger)
        #expect(bench.link.bond == nil)
        var keys = Self.bond(secureConnections: true).keys
        keys.identityAddress = Bench.address
        keys.peerKey = EncryptionKey(key: Key128(Block128(high: 9, low: 9)))
        #expect(throws: BondError.self) {
            try bench.link.securityManager(bench.link.manager, didPair: keys, isBonding: true)
        }
        let bond = try #require(bench.bonds.bond(identity: Bench.address))
        #expect(bench.bonds.bonds == [bond] && bond.keys.peerKey?.key == Self.key)
        #expect(bench.link.keysRefusal == .identityTaken(by: bond.identifier, name: bond.name))
        // Nor when the owner of the link takes it for the bonded peer.
        bench.link.identifier = bond.identifier
        keys.identityAddress = stranger
        try bench.link.securityManager(bench.link.manager, didPair: keys, isBonding: true)
        #expect(bench.bonds.bonds.count == 2 && bench.bonds.bond(bond.identifier) == bond)
    }

    @Test func AB_S10_aDeviceThatCannotKeepKeysHasNotPaired() throws {
        let storage = MemoryBondStorage()
        let bench = try Bench(.central)
        bench.security.bonds = try BondStore(
            storage: storage,
            adapter: AdapterIdentity(address: .none),
            random: RandomSource(seed: 3)
        )
        storage.failure = .tooLarge(place: "memory")
        #expect(throws: BondError.self) {
            try bench.link.securityManager(bench.link.manager, didPair: Self.bond().keys, isBonding: true)
        }
        #expect(bench.link.bond == nil)
    }

    @Test(arguments: [Bench.address, BluetoothAddress(0x5C07_F99B_58B2, kind: .randomDevice)])
    func whoPairsUnderItsIdentityAddressMayBeMetUnderItAgain(address: BluetoothAddress) throws {
        let bench = try Bench(.central, from: address)
        var keys = Self.bond().keys
        keys.identityAddress = Bench.address
        keys.identityKey = Self.key
        try bench.link.securityManager(bench.link.manager, didPair: keys, isBonding: true)
        let bond = try #require(bench.bonds.bonds.first)
        #expect(bond.showsIdentity == (address == Bench.address))
        #expect(PrivatePeer(bond).mayShowIdentity == bond.showsIdentity)
    }
}
