import AccessStandIns
import BluetoothTypes
import Cryptography
import SMP
import Testing

@testable import GAP
@testable import Security

/// Which peers are recognised, whatever the controller's list contains.
@Suite struct PrivateListTests {
    private static let undirected = Peripheral.Mode(.general, .undirected)

    /// More bonded devices than the list holds: the controller or the host recognises and reaches each of them.
    @Test(arguments: PrivacyMode.inController)
    func moreBondsThanTheListHolds(mode: PrivacyMode) throws {
        let world = GAPWorld(mode.commands)
        let device = world.privateDevice(mode, listSize: 1)
        let others = (0..<3).map { _ in world.privateDevice(mode) }
        for other in others { try device.bond(with: other) }
        #expect(device.access.privacy.list.entries.count == 1)
        let roles = others.map { Peripheral($0.access) }
        for role in roles { role.enter(Self.undirected) }
        let heard = try device.hear()
        #expect(Set(heard.map(\.address)) == Set(others.map(\.identity.address)))
        #expect(heard.allSatisfy { $0.isResolved })
        for other in others {
            let central = Central(device.access)
            var link: AccessLink?
            central.connect(to: other.identity.address, within: .seconds(10)) { link = try? $0.get() }
            #expect(world.run(for: .seconds(12)) { link != nil })
            #expect(link?.peer == other.identity.address)
        }
    }

    /// Bonds are added and removed while the device advertises, scans and connects.
    @Test(arguments: PrivacyMode.inController)
    func theListChangesWhileTheRadioIsBusy(mode: PrivacyMode) throws {
        let world = GAPWorld(mode.commands)
        let (device, other) = (world.privateDevice(mode), world.privateDevice(mode))
        let role = Peripheral(device.access)
        role.enter(Self.undirected)
        let theirs = Peripheral(other.access)
        theirs.enter(Self.undirected)
        let observer = Observer(device.access)
        var heard: [BluetoothAddress] = []
        try observer.observe(.attentive) { heard.append($0.address) }
        device.access.connector.want(BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice))
        world.run(.seconds(2))
        #expect(!heard.contains(other.identity.address))
        #expect(!heard.isEmpty)
        try device.bond(with: other)
        #expect(device.access.privacy.list.isInUse)
        heard = []
        world.run(.seconds(2))
        #expect(!heard.isEmpty)
        #expect(Set(heard) == [other.identity.address])
        let bond = try #require(device.bonds?.bond(identity: other.identity.address))
        try device.access.deviceSecurity.forget(bond.identifier)
        heard = []
        world.run(.seconds(2))
        #expect(!device.access.privacy.list.isInUse)
        #expect(!heard.isEmpty)
        #expect(!heard.contains(other.identity.address))
        #expect(device.access.connector.wanted.count == 1)
    }

    /// Network privacy mode: a device that shows the identity address of a bonded device with a key is not taken for
    /// it, unless the bonded device is known to show its identity.
    @Test(arguments: PrivacyMode.allCases, [false, true])
    func anIdentityAddressOnTheAirCountsInDeviceModeOnly(mode: PrivacyMode, showsIdentity: Bool) throws {
        let world = GAPWorld(mode.commands)
        let device = world.privateDevice(mode)
        let open = world.device()
        let key = Key128(Block128(high: 3, low: 4))
        device.access.privacy.peers = [PrivatePeer(identity: open.address, key: key, showsIdentity: showsIdentity)]
        world.run(.milliseconds(100))
        let role = Peripheral(open.access)
        role.enter(Self.undirected)
        let central = Central(device.access)
        var result: Result<AccessLink, GAPError>?
        central.connect(to: open.address, within: .seconds(5)) { result = $0 }
        world.run(for: .seconds(6)) { result != nil }
        #expect((try? result?.get().peer) == (showsIdentity ? open.address : nil))
    }
}
