import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP
import Testing

@testable import GAP
@testable import Privacy
@testable import Security

/// What the controller's list is told, and who is recognised whatever is on it.
@Suite struct PrivateListTests {
    private static let undirected = Peripheral.Mode(.general, .undirected)

    private func information(_ size: Int) -> ControllerInformation {
        var information = ControllerInformation()
        information.leFeatures = [.privacy]
        information.supportedCommands = SupportedCommands(HCICommandRegistry.all)
        information.resolvingListSize = size
        return information
    }

    private func peer(_ number: UInt64, hasKey: Bool = true, lastUse: UInt64 = 0, showsIdentity: Bool = false)
        -> PrivatePeer
    {
        PrivatePeer(
            identity: BluetoothAddress(0b11 << 46 | number, kind: .randomDevice),
            key: hasKey ? Key128(Block128(high: number, low: 1)) : nil,
            showsIdentity: showsIdentity,
            lastUse: lastUse
        )
    }

    private func settle(_ list: inout Privacy.ResolvingList) -> [Privacy.ResolvingList.Step] {
        let steps = list.steps
        for step in steps { list.finished(step, isDone: true) }
        #expect(!list.isBehind && list.steps.isEmpty)
        return steps
    }

    @Test func thoseUsedLastAreOnTheListAndTheLeastRecentlyUsedGoes() {
        var list = Privacy.ResolvingList()
        list.begin(information(2))
        #expect(list.capacity == 2 && !list.isBehind)
        let (a, b, c) = (peer(1, lastUse: 1), peer(2, lastUse: 2), peer(3, lastUse: 3))
        list.choose(from: [a, b])
        #expect(settle(&list) == [.setTimeout, .add(b), .add(a), .enable])
        #expect(list.isInUse)
        list.choose(from: [a, b, c])
        #expect(settle(&list) == [.remove(a.identity), .add(c)])
        // Used again, in whatever order it is told.
        list.choose(from: [peer(1, lastUse: 9), b, c])
        #expect(settle(&list) == [.remove(b.identity), .add(peer(1, lastUse: 9))])
        list.choose(from: [])
        #expect(settle(&list).count == 2 && !list.isInUse)
    }

    @Test func aPeerWithoutAKeyOrThatMayShowItselfIsInDeviceMode() {
        var list = Privacy.ResolvingList()
        list.begin(information(3))
        let (keyless, open, plain) = (peer(1, hasKey: false, lastUse: 9), peer(2, showsIdentity: true), peer(3))
        list.choose(from: [keyless, open, plain])
        #expect(
            settle(&list) == [
                .setTimeout, .add(plain), .add(open), .showIdentity(open.identity), .add(keyless),
                .showIdentity(keyless.identity), .enable,
            ]
        )
        // Those with keys come first, and who has no identity address does not come at all.
        list.choose(from: [keyless, open, plain, peer(4)])
        #expect(settle(&list) == [.remove(keyless.identity), .add(peer(4))])
        var homeless = peer(5)
        homeless.identity = BluetoothAddress(0b01 << 46 | 5, kind: .randomDevice)
        list.choose(from: [homeless])
        #expect(settle(&list).allSatisfy { if case .remove = $0 { true } else { false } })
    }

    @Test func whatTheControllerDoesNotTakeIsLeftToTheHost() {
        var list = Privacy.ResolvingList()
        list.begin(information(3))
        list.choose(from: [peer(1), peer(2)])
        for step in list.steps { list.finished(step, isDone: step != .add(peer(1))) }
        #expect(!list.isBehind && list.isInUse && list.entries.count == 1)
        list.begin(information(3))
        list.choose(from: [peer(1)])
        for step in list.steps { list.finished(step, isDone: step != .enable) }
        #expect(!list.isInUse && list.capacity == 0 && !list.isBehind)
        var old = information(3)
        old.leFeatures = []
        list.begin(old)
        list.choose(from: [peer(1)])
        #expect(list.steps.isEmpty)
    }

    /// Nothing is said for nothing, a peer that has changed is another one, and the list counts when all of it is there.
    @Test func whatIsSaidOfEachChange() {
        var list = Privacy.ResolvingList()
        list.begin(information(2))
        #expect(list.steps.isEmpty && !list.isInUse)
        list.choose(from: [peer(1)])
        #expect(list.isBehind && list.steps == [.setTimeout, .add(peer(1)), .enable])
        list.finished(.setTimeout, isDone: false)
        list.finished(.add(peer(1)), isDone: true)
        #expect(!list.isInUse && !list.isBehind && list.steps.isEmpty)
        list.finished(.enable, isDone: true)
        #expect(list.isInUse)
        var other = peer(1)
        other.key = Key128(Block128(high: 99, low: 1))
        list.choose(from: [other])
        #expect(list.isBehind && settle(&list) == [.remove(other.identity), .add(other)])
        other.showsIdentity = true
        list.choose(from: [other])
        #expect(list.isBehind)
        #expect(settle(&list) == [.remove(other.identity), .add(other), .showIdentity(other.identity)])
        // To be used changes nothing of it.
        other.lastUse = 5
        list.choose(from: [other])
        #expect(!list.isBehind && list.steps.isEmpty)
        list.choose(from: [peer(2)])
        #expect(list.isBehind && settle(&list) == [.remove(other.identity), .add(peer(2))])
        list.begin(information(0))
        list.choose(from: [peer(1)])
        #expect(list.capacity == 0 && !list.isBehind && list.steps.isEmpty && !list.isInUse)
        // Nothing of before is there, and a time that the controller cannot be told it is not.
        var simple = information(1)
        simple.supportedCommands = SupportedCommands(
            HCICommandRegistry.all.filter {
                $0 != LESetResolvablePrivateAddressTimeout.self && $0 != LESetPrivacyMode.self
            }
        )
        list.begin(simple)
        list.choose(from: [peer(1, hasKey: false), peer(2, hasKey: false, lastUse: 1)])
        #expect(settle(&list) == [.add(peer(2, hasKey: false, lastUse: 1)), .enable])
    }

    /// More bonded devices than the list holds: each is recognised and reached, by the controller or by the host.
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
        #expect(Set(heard.map(\.address)) == Set(others.map(\.identity.address)) && heard.allSatisfy(\.isResolved))
        for other in others {
            let central = Central(device.access)
            var link: AccessLink?
            central.connect(to: other.identity.address, within: .seconds(10)) { link = try? $0.get() }
            #expect(world.run(for: .seconds(12)) { link != nil })
            #expect(link?.peer == other.identity.address)
        }
    }

    /// Bonds come and go while the device advertises, scans and looks for a peer.
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
        #expect(!heard.contains(other.identity.address) && !heard.isEmpty)
        try device.bond(with: other)
        #expect(device.access.privacy.list.isInUse)
        heard = []
        world.run(.seconds(2))
        #expect(!heard.isEmpty && Set(heard) == [other.identity.address])
        let bond = try #require(device.bonds?.bond(identity: other.identity.address))
        try device.access.security.forget(bond.identifier)
        heard = []
        world.run(.seconds(2))
        #expect(!device.access.privacy.list.isInUse)
        #expect(!heard.isEmpty && !heard.contains(other.identity.address))
        #expect(device.access.connector.wanted.count == 1)
    }

    /// Network privacy mode: somebody who shows the identity address of a bonded device with a key is not taken for it, unless
    /// it is known to do so.
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
