import BluetoothTypes
import EventLoops
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
        let pair = try SecurePair().bonded()
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
