import AppStandIns
import CoreBluetooth
import Foundation
import TestBasics
import Testing

@testable import BluetoothTesting

/// A device keeps its apps until their processes end, and nothing keeps a world that has ended.
@Suite struct WorldLifetimeTests {
    @Test("a device keeps what it launches, until the process ends", .world)
    func launchedObjectsAreKept() async throws {
        let phone = world.addDevice(named: "Phone")
        weak let follower = phone.launch("follower") { _ in TestFollower() }
        await world.run(for: .seconds(1))
        #expect(follower?.manager?.state == .poweredOn)
        #expect(phone.app("follower", as: TestFollower.self) === follower)
        #expect(phone.app("follower", as: TestBelt.self) == nil)
        #expect(try #require(phone.app("follower")).crash())
        await world.run(for: .seconds(1))
        #expect(follower == nil)
        #expect(phone.app("follower", as: TestFollower.self) == nil)
    }

    @Test("an installed app gives its objects back", .world)
    func installedObjects() async {
        let phone = world.addDevice(named: "Phone")
        phone.install("follower") { _, _ in TestFollower() }
        #expect(phone.app("follower", as: TestFollower.self) == nil)
        phone.open("follower")
        await world.run(for: .seconds(1))
        let follower = phone.app("follower", as: TestFollower.self)
        #expect(follower?.manager?.state == .poweredOn)
        phone.restart()
        await world.run(for: .seconds(1))
        #expect(phone.app("follower", as: TestFollower.self) == nil)
    }

    @Test("a world that has ended is released with its devices and apps, even if an app holds its own handle")
    func aWorldIsReleased() async throws {
        let test = try #require(Test.current)
        weak var simulation: SimulatedWorld?
        weak var follower: TestFollower?
        weak var holder: Holder?
        do {
            let scope = WorldScope(test, WorldTrait(seed: 1, misuse: .fails, appTime: .world, keepsCaptures: true))
            let world = try #require(scope.slot.world)
            simulation = world.simulation
            let pair = TestPair(in: world)
            follower = pair.follower
            holder = pair.phone.launch("holder") { Holder($0) }
            pair.phone.install("installed") { app, _ in Holder(app) }
            pair.phone.open("installed")
            #expect(await world.until { pair.follower.notes.all.last == "subscribed" })
            await scope.end()
            #expect(scope.slot.world == nil)
        }
        #expect(simulation == nil)
        #expect(follower == nil)
        #expect(holder == nil)
    }

    @Test("calls on what has ended are reported by their results", .gathers { #expect($0.count == 1) }, .world)
    func resultsOfCalls() throws {
        let phone = world.addDevice(named: "Phone")
        #expect(phone.open("nothing") == nil)
        #expect(!phone.forget(UUID()))
        phone.launch("follower") { _ in TestFollower() }
        let app = try #require(phone.app("follower"))
        #expect(app.leave())
        #expect(app.enter())
        phone.restart()
        for worked in [app.leave(), app.enter(), app.beginBackgroundTask(), app.endBackgroundTask(), app.crash()] {
            #expect(!worked)
        }
        #expect(!app.removeFromMemory())
        app.everyInterval(.seconds(1), on: DispatchQueue(label: "ticks")) {}
        world.run(for: .zero) as Void
        #expect(world.story.ignored.count == 9)
    }

    @Test func presets() {
        #expect(DeviceOptions.phone.addressLifetime != nil)
        #expect(DeviceOptions.accessory.addressLifetime == nil)
        #expect(DeviceOptions.gateway.pairingScreen == .none)
    }
}

private final class Holder: Sendable {
    let app: SimulatedApp

    init(_ app: SimulatedApp) {
        self.app = app
    }
}
