import CoreBluetooth
import EventLoops
import Foundation
import Security
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Several apps, several links, and systems that restart.
@Suite struct SharedTrustTests {
    @Test func twoAppsShareTheLinkThatOneOfThemHasPaired() throws {
        let trust = TrustWorld()
        let alerts = trust.watchAlerts()
        let (first, second) = (try trust.app(), try trust.app())
        try first.visit()
        try second.visit()
        first.read(Trust.email)
        // The second app makes its request while the persons are being asked: one pairing is enough for both.
        second.read(Trust.email)
        second.read(Trust.open)
        #expect(try first.expect("value").error == nil)
        #expect(try second.expect("value").error == nil)
        #expect(try second.expect("value").error == nil)
        #expect(alerts.all.count == 2)
        #expect(trust.phone.withSystem { $0.links.all.count } == 1)
    }

    @Test func promptsFromTwoLinksComeOneAfterTheOther() throws {
        let trust = TrustWorld()
        let second = trust.world.addDevice(named: "Second", options: DeviceOptions(addressLifetime: nil))
        let app = try trust.visitor()
        let secondApp = second.launch("second") { _ in TrustPeripheral() }
        trust.world.run(for: .milliseconds(200))
        let other = try trust.app()
        try other.find(except: app.identifier)
        try other.open()
        trust.phone.person.behaves(.agrees(lookingAt: [trust.sensor, second]), after: .seconds(1))
        second.person.behaves(.agrees(lookingAt: [trust.phone]), after: .seconds(1))
        let most = Locked(0)
        let person = trust.phone.person
        person.watchAlerts { _ in most.change { $0 = max($0, person.alerts.count) } }
        app.read(Trust.email)
        other.read(Trust.email)
        #expect(try app.expect("value").error == nil)
        #expect(try other.expect("value").error == nil)
        #expect(most.value == 1)
        #expect(Set(trust.phone.pairedPeers.compactMap(\.name)) == ["Sensor", "Second"])
        withExtendedLifetime(secondApp) {}
    }

    /// Replaces the phone's system but keeps its storage; `number` selects the next controller.
    private func restart(
        _ trust: TrustWorld,
        _ storage: LoopBound<any BondStorage>,
        number: UInt64,
        named name: String = "Phone"
    ) -> SimulatedDevice {
        trust.phone.withSystem { $0.stop() }
        let phone = trust.world.addDevice(named: name, number: number, bonds: storage) { _ in }
        phone.person.behaves(.agrees(lookingAt: [trust.sensor]), after: .seconds(1))
        trust.world.run(for: .milliseconds(200))
        return phone
    }

    private func bonded() throws -> (TrustWorld, LoopBound<any BondStorage>, UUID) {
        let loop = VirtualEventLoop()
        let storage = loop.make { MemoryBondStorage() as any BondStorage }
        let trust = TrustWorld(loop: loop, phoneBonds: storage)
        let app = try trust.pairedApp()
        let identifier = try #require(app.identifier)
        try app.leave()
        return (trust, storage, identifier)
    }

    @Test("behaviour 15.7: a name from before the system started has no age until it is read again")
    func aNameFromBeforeHasNoAge() throws {
        let (trust, storage, identifier) = try bonded()
        #expect(trust.phone.withSystem { $0.peers.names(of: identifier).deviceAge } != nil)
        let phone = restart(trust, storage, number: 1)
        func names() -> KnownNames { phone.withSystem { $0.peers.names(of: identifier) } }
        #expect(names().device == "Sensor")
        #expect(names().deviceAge == nil)
        #expect(names().advertised == nil)
        let app = try trust.app(on: phone)
        try app.connect(known: identifier)
        try app.expect("connected")
        trust.world.run(for: .seconds(3))
        #expect(names().device == "Sensor")
        #expect(try (0...3_000).contains(#require(names().deviceAge)))
    }

    @Test func aSystemThatBeginsAnewKnowsItsPeersByTheSameIdentifiers() throws {
        let (trust, storage, identifier) = try bonded()
        let phone = restart(trust, storage, number: 1)
        let alerts = trust.watchAlerts()
        let app = try trust.app(on: phone)
        // Behaviour 11.3: the peer is known before any advertisement arrives.
        try app.connect(known: identifier)
        try app.expect("connected")
        try app.leave()
        #expect(try app.find() == identifier)
        try app.open()
        app.read(Trust.email)
        #expect(try app.expect("value").error == nil)
        #expect(alerts.all.isEmpty)
        #expect(phone.pairedPeers.map(\.identifier) == [identifier])
        // Their names are known too, in the settings and, from the start, in apps (behaviour 2.25).
        #expect(phone.pairedPeers.map(\.name) == ["Sensor"])
    }

    /// A different controller, or one with the same address at a different place.
    @Test(
        "AB-H08: another controller does not get the bonds",
        arguments: [(77, "Phone"), (1, "Thief")] as [(UInt64, String)]
    )
    func anotherControllerDoesNotGetTheBonds(number: UInt64, name: String) throws {
        let (trust, storage, identifier) = try bonded()
        let phone = restart(trust, storage, number: number, named: name)
        #expect(phone.pairedPeers.isEmpty)
        #expect(phone.person.notices.contains { $0.contains("belong to the adapter") })
        let app = try trust.app(on: phone)
        #expect(try app.find() != identifier)
        // Nothing was changed, so the right controller finds its bonds unmodified.
        let again = restart(trust, storage, number: 1)
        #expect(again.pairedPeers.map(\.identifier) == [identifier])
    }
}

/// Bonds stored on disk.
@Suite struct StoredTrustTests {
    @Test func aDirectoryKeepsTheBondsFromSystemToSystem() throws {
        let temporary = TemporaryDirectory.uncreated()
        defer { withExtendedLifetime(temporary) {} }
        let directory = temporary.path
        let trust = TrustWorld { configuration, isPhone in
            if isPhone { configuration.store = .directory(directory) }
        }
        let app = try trust.pairedApp()
        let identifier = try #require(app.identifier)
        try app.leave()
        trust.phone.withSystem { $0.stop() }
        let phone = trust.world.addDevice(named: "Phone", number: 1) { $0.store = .directory(directory) }
        trust.world.run(for: .milliseconds(200))
        #expect(phone.pairedPeers.map(\.identifier) == [identifier])
    }
}
