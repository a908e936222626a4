import BluetoothTypes
import Cryptography
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// How a device's security settings reach its links, and what it records about their peers.
@Suite struct DeviceSecurityRuleTests {
    private static let stranger = BluetoothAddress(0xC000_0000_0099, kind: .randomDevice)

    private func outOfBand(_ seed: UInt64) throws -> OutOfBandData {
        try #require(OwnOutOfBandData(random: RandomSource(seed: seed))).shared
    }

    /// Each change applies from the next pairing on, on existing links.
    @Test(arguments: [LERole.central, .peripheral])
    func aChangeReachesTheLinksThatThereAre(role: LERole) throws {
        let pair = try SecurePair()
        try pair.connect()
        let device = pair.device(role)
        let (security, manager) = (device.deviceSecurity, try #require(device.link).secureLink.manager)
        security.configuration.ioCapability = .displayOnly
        #expect(manager.configuration.ioCapability == .displayOnly)
        #expect(manager.consent == .asked)
        security.policy.asksConsent = false
        #expect(manager.consent == .given)
        security.policy.asksConsent = true
        security.policy.capabilityAsPeripheral = .keyboardOnly
        #expect(manager.configuration.ioCapability == (role == .peripheral ? .keyboardOnly : .displayOnly))
        security.prompter = nil
        #expect(manager.configuration.ioCapability == .noInputNoOutput)
        #expect(manager.consent == .missing)
        security.prompter = device.person
        #expect(manager.configuration.ioCapability != .noInputNoOutput)
        #expect(manager.consent == .asked)
        #expect(manager.outOfBand.own == nil)
        #expect(manager.outOfBand.peer == nil)
        security.offerOutOfBand(try #require(OwnOutOfBandData(random: RandomSource(seed: 1))))
        #expect(manager.outOfBand.own?.shared == security.ownOutOfBand?.shared)
        #expect(manager.outOfBand.own != nil)
        let next = try outOfBand(2)
        security.expectOutOfBand(next)
        #expect(manager.outOfBand.peer == next)
        security.expectOutOfBand(nil)
        #expect(manager.outOfBand.peer == nil)
        // Without a store, no bonding is promised.
        #expect(manager.configuration.bonds)
        security.configuration.bonds = false
        #expect(!manager.configuration.bonds)
    }

    /// Data from a given peer take precedence over data from an unspecified peer.
    @Test func outOfBandDataReachThePeersLink() throws {
        let pair = try SecurePair()
        try pair.connect()
        let link = try #require(pair.central.link).secureLink
        let (own, others, next) = (try outOfBand(1), try outOfBand(2), try outOfBand(3))
        pair.central.deviceSecurity.expectOutOfBand(next)
        pair.central.deviceSecurity.setOutOfBand(others, from: Self.stranger)
        #expect(link.manager.outOfBand.peer == next)
        pair.central.deviceSecurity.setOutOfBand(own, from: link.peer)
        #expect(link.manager.outOfBand.peer == own)
        // The address as a controller reports a peer that it has resolved.
        let told = BluetoothAddress(link.peer.value, kind: link.peer.kind.isRandom ? .randomIdentity : .publicIdentity)
        pair.central.deviceSecurity.setOutOfBand(others, from: told)
        #expect(link.manager.outOfBand.peer == others)
        pair.central.deviceSecurity.setOutOfBand(nil, from: Self.stranger)
        #expect(link.manager.outOfBand.peer == others)
        pair.central.deviceSecurity.setOutOfBand(nil, from: link.peer)
        #expect(link.manager.outOfBand.peer == next)
    }

    /// The 33rd peer replaces the oldest one.
    @Test("AB-A14: the out-of-band data of at most 32 peers are kept")
    func outOfBandDataOf32PeersAreKept() throws {
        let security = try SecurePair().central.deviceSecurity
        let (first, second) = (try outOfBand(1), try outOfBand(2))
        func peer(_ number: Int) -> BluetoothAddress { BluetoothAddress(UInt64(number), kind: .publicDevice) }
        func known() -> [Int] { (1...40).filter { security.outOfBand(from: peer($0)).peer != nil } }
        for number in 1...32 { security.setOutOfBand(first, from: peer(number)) }
        // Renewing an existing entry evicts none, and makes it the latest.
        security.setOutOfBand(second, from: peer(1))
        #expect(known() == Array(1...32))
        #expect(security.outOfBand(from: peer(1)).peer == second)
        security.setOutOfBand(first, from: peer(33))
        #expect(known() == [1] + Array(3...33))
        security.setOutOfBand(nil, from: peer(5))
        security.setOutOfBand(first, from: peer(34))
        #expect(known() == [1, 3, 4] + Array(6...34))
    }

    /// Out-of-band data of a peer are used up by the pairing with it, and those of an unspecified peer by the next
    /// pairing that they apply to.
    @Test func aPairingUsesUpWhatCameAnotherWay() throws {
        let security = try SecurePair().central.deviceSecurity
        let peer = BluetoothAddress(1, kind: .publicDevice)
        for address in [peer, Self.stranger] { security.setOutOfBand(try outOfBand(1), from: address) }
        let next = try outOfBand(2)
        security.expectOutOfBand(next)
        security.pairingSucceeded(with: peer)
        #expect(security.outOfBandOfNext == next)
        #expect(security.outOfBand(from: peer).peer == next)
        security.pairingSucceeded(with: peer)
        #expect(security.outOfBand(from: peer).peer == nil)
        #expect(security.outOfBandOfNext == nil)
        #expect(security.outOfBand(from: Self.stranger).peer != nil)
    }

    @Test(
        "AB-S12: a successful pairing, a forgotten bond and the user's consent clear the record of failures",
        arguments: 0..<3
    )
    func successAndConsentClearFailures(way: Int) throws {
        let pair = try SecurePair()
        if way == 1 { try pair.bond() }
        let security = pair.central.deviceSecurity
        let bond = pair.central.bonds.bonds.first
        let peer = bond?.address ?? Self.stranger
        for _ in 0..<4 { security.pairingFailed(with: peer) }
        pair.world.run(.seconds(7))
        #expect(!security.mayPair(with: peer))
        switch way {
        case 0: security.pairingSucceeded(with: peer)
        case 1: try security.forget(try #require(bond).identifier)
        default: security.resetBackOff()
        }
        #expect(security.mayPair(with: peer))
        // The back-off starts at its shortest again.
        security.pairingFailed(with: peer)
        #expect(!security.mayPair(with: peer))
        pair.world.run(.seconds(1))
        #expect(security.mayPair(with: peer))
    }

    @Test("behaviour 6.12: the observer of bonds is notified that a peer has lost its key")
    func aLostBondIsTold() throws {
        let pair = try SecurePair()
        try pair.bond()
        pair.disconnect()
        let bond = try #require(pair.central.bonds.bonds.first)
        try pair.peripheral.bonds.remove(try #require(pair.peripheral.bonds.bonds.first).identifier)
        var changed: [BondIdentifier] = []
        pair.central.deviceSecurity.onBondChange = { changed.append($0) }
        try pair.connect()
        #expect(changed == [bond.identifier])
        #expect(pair.central.lostBonds == 1)
        #expect(pair.central.bonds.bond(bond.identifier)?.isLost == true)
    }

    /// A link that is being disconnected has no rights, however long that takes.
    @Test("AB-L07: a link that has lost its security has no rights until it ends")
    func aLinkThatHasLostItsSecurityHasNoRightsWhileItEnds() throws {
        let pair = try SecurePair()
        try pair.bond()
        let link = try #require(pair.central.link)
        #expect(link.secureLink.linkSecurity.isEncrypted)
        #expect(link.l2cap.linkSecurity.isEncrypted)
        let event = AuthenticatedPayloadTimeoutExpired(handle: link.connection.handle)
        pair.central.device.gate.onReceive?(HCIPacket(event))
        #expect(link.secureLink.manager.encryption != nil)
        #expect(link.secureLink.isOpen)
        #expect(!link.secureLink.linkSecurity.isEncrypted)
        #expect(!link.l2cap.linkSecurity.isEncrypted)
        // Nor does it count as a link to an unknown peer (AB-A10).
        #expect(link.secureLink.linkSecurity.hasKey)
        pair.world.run(.seconds(1))
        #expect(pair.central.link == nil)
        #expect(pair.central.device.endReasons == [.localHostTerminated])
    }

    /// A link ends when the controller reports so, and not when the controller reports that it could not end it.
    @Test(arguments: [HCIStatus.success, .commandDisallowed, .unknownConnection])
    func onlyALinkThatHasEndedIsOver(status: HCIStatus) throws {
        let pair = try SecurePair()
        try pair.bond()
        let link = try #require(pair.central.link)
        var event = DisconnectionComplete()
        (event.status, event.handle, event.reason) = (status, link.connection.handle, .remoteUserTerminated)
        pair.central.device.gate.onReceive?(HCIPacket(event))
        #expect(link.secureLink.isOpen == (status != .success))
        let known = pair.central.deviceSecurity.link(link.connection.handle)
        #expect(known === (status == .success ? nil : link.secureLink))
    }

    /// A peer that the controller has resolved by its private address has not paired under its identity address, and is
    /// not trusted under it (Core Vol 6 Part B 6).
    @Test func aPeerThatTheControllerHasResolvedDoesNotShowItsIdentity() throws {
        let world = GAPWorld()
        let slip = Person.Slip(loop: world.loop)
        let devices = try (0..<2).map { _ in try SecureDevice(world, slip: slip, address: .resolvablePrivate) }
        let pair = SecurePair(world, central: devices[0], peripheral: devices[1])
        try pair.bond()
        pair.disconnect()
        try pair.connect()
        for device in devices {
            let link = try #require(device.link)
            #expect(link.connection.peerResolvableAddress != nil)
            #expect(link.secureLink.linkSecurity.isEncrypted)
            #expect(link.connection.peerAddress.plain == device.bonds.bonds.first?.address)
        }
        var result: Result<Void, SecurityError>?
        try #require(pair.central.link).secureLink.pair { result = $0 }
        world.run(for: .seconds(60)) { result != nil }
        world.run(.milliseconds(500))
        #expect(result?.isSuccess == true)
        for device in devices { #expect(device.bonds.bonds.map(\.showsIdentity) == [false]) }
    }
}
