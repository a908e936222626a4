import ATT
import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import Security

/// The effects of the controller's encryption events, with a controller that sends arbitrary events.
@Suite struct SecurityEventTests {
    private static let key = SecurityBench.key

    @Test("AB-H05: unsolicited encryption does not raise the security level", arguments: [LERole.central, .peripheral])
    func encryptionThatNobodyAskedForRaisesNothing(role: LERole) throws {
        let bench = try SecurityBench(role)
        bench.change(1)
        bench.hci.inject(
            EncryptionChangeV2(
                EncryptionChange(handle: SecurityBench.handle, state: EncryptionState(rawValue: 1)),
                keySize: 16
            )
        )
        bench.hci.inject(EncryptionKeyRefreshComplete(status: .success, handle: SecurityBench.handle))
        #expect(!bench.link.linkSecurity.isEncrypted)
        #expect(!bench.protection.isEncrypted)
        #expect(bench.link.manager.encryption == nil)
    }

    @Test("AB-H05: a stranger's key request gets a negative reply")
    func aStrangersKeyRequestIsAnsweredWithNo() throws {
        let bench = try SecurityBench(.peripheral)
        for handle in [SecurityBench.handle, ConnectionHandle(rawValue: 0x99)] {
            bench.hci.inject(LELongTermKeyRequest(handle: handle, random: 0, encryptedDiversifier: 0))
        }
        // The host itself rejects the event of a link that does not exist.
        #expect(bench.hci.transport.commands.count { $0 is LELongTermKeyRequestNegativeReply } == 1)
        #expect(!bench.hci.transport.commands.contains { $0 is LELongTermKeyRequestReply })
    }

    @Test("behaviour 6.11: a bonded peer is encrypted at once")
    func aBondedPeerIsEncryptedAtOnce() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        let command = try #require(bench.hci.transport.commands.first as? LEEnableEncryption)
        #expect(command.longTermKey.bytes == Self.key.littleEndianBytes)
        #expect(command.random == 0)
        var results: [Bool] = []
        bench.link.prepare { results.append($0.isSuccess) }
        #expect(results.isEmpty)
        #expect(bench.link.linkSecurity.hasKey)
        #expect(!bench.link.linkSecurity.isEncrypted)
        bench.change(1)
        #expect(results == [true])
        #expect(bench.link.linkSecurity.isEncrypted)
        #expect(bench.link.linkSecurity.isAuthenticated)
        #expect(bench.protection == LinkSecurity(isEncrypted: true, isAuthenticated: true, isSecureConnections: true))
        bench.link.prepare { results.append($0.isSuccess) }
        #expect(results == [true, true])
    }

    @Test func aPeripheralLeavesEncryptionToTheCentral() throws {
        let bench = try SecurityBench(.peripheral, bond: SecurityBench.bond())
        #expect(bench.hci.transport.commands.isEmpty)
    }

    @Test func aPeripheralAnswersWithTheBondsKey() throws {
        let bench = try SecurityBench(.peripheral, bond: SecurityBench.bond())
        bench.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0))
        let reply = try #require(bench.hci.transport.commands.last as? LELongTermKeyRequestReply)
        #expect(reply.longTermKey.bytes == Self.key.littleEndianBytes)
        #expect(!bench.link.linkSecurity.isEncrypted)
        bench.hci.inject(
            EncryptionChangeV2(
                EncryptionChange(handle: SecurityBench.handle, state: EncryptionState(rawValue: 1)),
                keySize: 16
            )
        )
        #expect(bench.link.linkSecurity.isEncrypted)
        // The values of legacy pairing do not identify a Secure Connections key.
        bench.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 1, encryptedDiversifier: 0))
        #expect(bench.hci.transport.commands.last is LELongTermKeyRequestNegativeReply)
    }

    @Test func aKeyThatThePeerDoesNotHaveIsNotReplaced() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        var results: [Result<Void, SecurityError>] = []
        var lost = 0
        bench.link.onEvent = { if $0 == .bondLost { lost += 1 } }
        bench.link.prepare { results.append($0) }
        bench.change(0, .pinOrKeyMissing)
        #expect(results.first?.error == .peerLostKey)
        #expect(lost == 1)
        #expect(bench.bonds.bonds.first?.isLost == true)
        #expect(bench.link.bond?.isLost == true)
        #expect(bench.bonds.bonds.first?.keys.peerKey?.key == Self.key)
        // It recovers if the peer has the key after all.
        bench.link.secure(.encrypted) { _ in }
        bench.change(1)
        #expect(bench.bonds.bonds.first?.isLost == false)
        #expect(bench.link.linkSecurity.isEncrypted)
    }

    @Test func aControllerThatDoesNotEncryptIsTold() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        bench.change(0, .connectionTimeout)
        var result: Result<Void, SecurityError>?
        bench.hci.controller.refuses[LEEnableEncryption.opcode] = .commandDisallowed
        bench.link.secure(.encrypted) { result = $0 }
        bench.hci.run()
        #expect(result?.error == .encryptionFailed)
    }

    @Test func aLinkThatLosesItsEncryptionEnds() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        bench.change(1)
        bench.change(0)
        #expect(bench.disconnects.map(\.reason) == [.authenticationFailure])
        #expect(!bench.link.linkSecurity.isEncrypted)
        #expect(!bench.protection.isEncrypted)
    }

    @Test(arguments: [HCIStatus.pinOrKeyMissing, .connectionTimeout, .unspecifiedError])
    func aLinkWhoseKeyCouldNotBeChangedEnds(status: HCIStatus) throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        bench.change(1)
        // The host accepts changes that it has requested.
        let key = PacketBuffer(Self.key.littleEndianBytes)
        bench.hci.host.send(
            LEEnableEncryption(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0, longTermKey: key)
        )
        bench.hci.run()
        bench.hci.inject(EncryptionKeyRefreshComplete(status: status, handle: SecurityBench.handle))
        #expect(bench.disconnects.map(\.reason) == [.authenticationFailure])
    }

    @Test func aLinkWithoutAuthenticatedPacketsEnds() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        bench.change(1)
        bench.hci.inject(AuthenticatedPayloadTimeoutExpired(handle: SecurityBench.handle))
        #expect(bench.disconnects.map(\.reason) == [.authenticationFailure])
    }

    @Test func aForgottenBondTakesItsLinkWithIt() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        bench.change(1)
        try bench.deviceSecurity.forget(BondIdentifier(high: 7, low: 7))
        #expect(bench.bonds.bonds.isEmpty)
        #expect(bench.link.bond == nil)
        #expect(bench.disconnects.count == 1)
    }

    @Test("AB-S07: an old bond below the required mode protects nothing")
    func anOldBondThatIsWorseThanTheModeProtectsNothing() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond(secureConnections: false))
        bench.change(1)
        #expect(bench.link.linkSecurity.isEncrypted)
        bench.deviceSecurity.configuration = .secureConnectionsOnly
        #expect(bench.link.linkSecurity.isSecureConnectionsOnly)
        #expect(bench.link.linkSecurity.attributeRefusal(of: .encrypted) == .insufficientAuthentication)
        #expect(
            bench.protection.channelRefusal(of: SecurityLevel.encrypted.with(keySize: 16))
                == .insufficientAuthentication
        )
        bench.deviceSecurity.configuration = PairingConfiguration()
        #expect(bench.link.linkSecurity.attributeRefusal(of: .authenticated) == nil)
    }

    @Test("AB-G03: a private address identifies the bond but proves nothing")
    func aPrivateAddressFindsTheBondAndProvesNothing() throws {
        let irk = Key128(Block128(high: 3, low: 4))
        var bond = SecurityBench.bond()
        bond.keys.identityKey = irk
        let part: UInt32 = 0x40_1234
        let address = BluetoothAddress(UInt64(part) << 24 | UInt64(Toolbox.ah(irk, part)), kind: .randomDevice)
        let bench = try SecurityBench(.peripheral, bond: bond, from: address)
        #expect(bench.link.bond?.identifier == bond.identifier)
        #expect(bench.link.peer == SecurityBench.address)
        // A device that replays the address has no key.
        #expect(!bench.link.linkSecurity.isEncrypted)
        #expect(!bench.protection.isEncrypted)
        for requirement in SecurityLevel.cases.dropFirst() {
            #expect(bench.link.linkSecurity.attributeRefusal(of: requirement) == .insufficientEncryption)
        }
    }

    /// Two private addresses of a bonded peer, the older one replayed by an attacker.
    private func addresses(_ irk: Key128) -> [BluetoothAddress] {
        ([0x40_1234, 0x40_5678] as [UInt32]).map { part in
            BluetoothAddress(UInt64(part) << 24 | UInt64(Toolbox.ah(irk, part)), kind: .randomDevice)
        }
    }

    private func privateBond(_ irk: Key128) -> Bond {
        var bond = SecurityBench.bond()
        bond.keys.identityKey = irk
        return bond
    }

    @Test("AB-G03: a device that replays the address of an encrypted peer is refused")
    func replayedAddressesOfEncryptedPeersAreRefused() throws {
        let irk = Key128(Block128(high: 3, low: 4))
        let (bond, addresses) = (privateBond(irk), addresses(irk))
        let bench = try SecurityBench(.peripheral, bond: bond, from: addresses[1])
        bench.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0))
        bench.change(1)
        var replaced = 0
        let owner = bench.owner(of: bench.link)
        owner.onReplaced = { replaced += 1 }
        #expect(bench.connect(addresses[0], 0x41) == nil)
        #expect(bench.disconnects.map(\.handle.rawValue) == [0x41])
        #expect(replaced == 0)
        #expect(bench.link.linkSecurity.isEncrypted)
        let refused = try #require(bench.hci.reported.compactMap { $0 as? SecurityEvent }.last)
        #expect(refused.link?.rawValue == 0x41)
        #expect(refused.peer == bench.link.peer)
        #expect(refused.weight == .notice)
        let isRefusal = if case .secondLinkRefused = refused.kind { true } else { false }
        #expect(isRefusal, "\(refused)")
        // It gets no key, whatever it requests.
        let newcomer = ConnectionHandle(rawValue: 0x41)
        bench.hci.inject(LELongTermKeyRequest(handle: newcomer, random: 0, encryptedDiversifier: 0))
        #expect(bench.hci.transport.commands.last is LELongTermKeyRequestNegativeReply)
        // A stranger is not affected.
        #expect(bench.connect(BluetoothAddress(0xC000_0000_0099, kind: .randomDevice), 0x42) != nil)
    }

    @Test("AB-G03: a device that replays an address does not keep the peer's place")
    func replayedAddressesDoNotHoldThePeersPlace() throws {
        let irk = Key128(Block128(high: 3, low: 4))
        let (bond, addresses) = (privateBond(irk), addresses(irk))
        let bench = try SecurityBench(.peripheral, bond: bond, from: addresses[0])
        var replaced = 0
        let owner = bench.owner(of: bench.link)
        owner.onReplaced = { replaced += 1 }
        var failure: SecurityError?
        bench.link.secure(.encrypted) { failure = $0.error }
        let newcomer = try #require(bench.connect(addresses[1], 0x41))
        #expect(bench.disconnects.map(\.handle) == [SecurityBench.handle])
        #expect(replaced == 1)
        #expect(failure == .linkLost)
        // Nothing happens on the old link any more, although it still exists.
        bench.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0))
        #expect(bench.hci.transport.commands.last is LELongTermKeyRequestNegativeReply)
        bench.change(1)
        #expect(!bench.link.linkSecurity.isEncrypted)
        #expect(bench.link.linkSecurity.hasKey)
        let handle = ConnectionHandle(rawValue: 0x41)
        bench.hci.inject(LELongTermKeyRequest(handle: handle, random: 0, encryptedDiversifier: 0))
        bench.change(1, .success, handle)
        #expect(newcomer.linkSecurity.isEncrypted)
    }

    @Test func aPairingThatTellsWhoIsThereEndsTheOtherLinksOfThatPeer() throws {
        let irk = Key128(Block128(high: 3, low: 4))
        let addresses = addresses(irk)
        let bench = try SecurityBench(.peripheral, from: addresses[0])
        // Nothing shows yet that the two are the same device.
        let second = try #require(bench.connect(addresses[1], 0x41))
        #expect(bench.disconnects.isEmpty)
        var keys = privateBond(irk).keys
        keys.identityAddress = SecurityBench.address
        try second.store(keys, isBonding: true)
        #expect(bench.disconnects.map(\.handle) == [SecurityBench.handle])
    }

    @Test("AB-A10: even a bond that is too weak has to be proved by the peer first")
    func aBondThatIsTooWeakIsStillOneThatThePeerShowsFirst() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond(secureConnections: false))
        bench.deviceSecurity.configuration = .secureConnectionsOnly
        // Until it is encrypted, the link may be to any device.
        #expect(bench.link.linkSecurity.hasKey)
        #expect(!bench.link.linkSecurity.isEncrypted)
        #expect(bench.link.linkSecurity.attributeRefusal(of: .encrypted) == .insufficientEncryption)
        bench.change(1)
        #expect(!bench.link.linkSecurity.hasKey)
        #expect(!bench.link.linkSecurity.isEncrypted)
        #expect(bench.link.linkSecurity.attributeRefusal(of: .encrypted) == .insufficientAuthentication)
    }

    @Test func aControllersIdentityIsAnIdentity() throws {
        let resolved = BluetoothAddress(SecurityBench.address.value, kind: .publicIdentity)
        let bench = try SecurityBench(.peripheral, bond: SecurityBench.bond(), from: resolved)
        #expect(bench.link.bond != nil)
    }

    @Test("AB-S10: a device that cannot store its keys has not paired")
    func aDeviceThatCannotKeepKeysHasNotPaired() throws {
        let storage = MemoryBondStorage()
        let bench = try SecurityBench(.central)
        bench.deviceSecurity.bonds = try BondStore(
            storage: storage,
            adapter: AdapterIdentity(address: .none),
            random: RandomSource(seed: 3)
        )
        storage.failure = .tooLarge(place: "memory")
        #expect(throws: BondError.self) {
            try bench.link.store(SecurityBench.bond().keys, isBonding: true)
        }
        #expect(bench.link.bond == nil)
    }

    @Test(arguments: [SecurityBench.address, BluetoothAddress(0x5C07_F99B_58B2, kind: .randomDevice)])
    func peersPairedByIdentityAddressMayShowIt(address: BluetoothAddress) throws {
        let bench = try SecurityBench(.central, from: address)
        var keys = SecurityBench.bond().keys
        keys.identityAddress = SecurityBench.address
        keys.identityKey = Self.key
        try bench.link.store(keys, isBonding: true)
        let bond = try #require(bench.bonds.bonds.first)
        #expect(bond.showsIdentity == (address == SecurityBench.address))
        #expect(PrivatePeer(bond).mayShowIdentity == bond.showsIdentity)
    }
}
