import CoreBluetooth
import Foundation
import RadioEnergy
import TestBasics
import Testing

@testable import BluetoothTesting

/// The energy of devices in a world, by app.
@Suite struct WorldEnergyTests {
    /// Expects a report to have all that the device's radio did, to the microsecond.
    static func expectComplete(_ device: SimulatedDevice, _ place: SourceLocation = #_sourceLocation) throws {
        let report = try #require(world.energy(of: device.name), sourceLocation: place)
        let air = device.airTime
        #expect(report.usage.sending == .microseconds(air.sending), sourceLocation: place)
        #expect(report.usage.listening == .microseconds(air.listening), sourceLocation: place)
        #expect(report.usage.transmissions == air.framesSent, sourceLocation: place)
        let parts = (report.apps.map(Optional.some) + [nil]).reduce(report.sleep) { $0 + report.charge(of: $1) }
        #expect(parts == report.total, sourceLocation: place)
    }

    @Test("a device's energy is that of its apps, of the system and of its sleep, and complete", .world)
    func energyHasItsApp() async throws {
        world.trackEnergy(.nrf52832)
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        for _ in 0..<10 {
            pair.belt.send([0, 70])
            await world.run(for: .seconds(1))
        }
        let phone = try #require(world.energy(of: "Phone"))
        #expect(phone.apps == ["follower"] && phone.elapsed == world.now && !phone.isEstimate)
        #expect(phone.charge(of: "follower", for: .scanning) > .microampereHours(0.01))
        #expect(phone.items.contains { if case .operation(.notifications, _) = $0.account.use { true } else { false } })
        #expect(phone.items.contains { if case .operation(.discovery, _) = $0.account.use { true } else { false } })
        #expect(phone.items.contains { if case .link = $0.account.use { true } else { false } })
        let belt = try #require(world.energy(of: "Belt"))
        #expect(belt.apps == ["belt"] && belt.charge(of: "belt", for: .advertising) > .zero)
        #expect(belt.charge(of: "belt") + belt.charge(of: nil) + belt.sleep == belt.total)
        #expect(belt.days(on: .milliampereHours(230)) > 1)
        for device in world.simulation.devices { try Self.expectComplete(device) }
    }

    @Test(
        "a budget that is exceeded is reported with each purpose",
        .gathers {
            let text = $0.first?.text ?? ""
            #expect(
                text.hasPrefix("app on Phone uses 3.")
                    && text.contains("mAh per hour, expected less than 12.0 µAh per hour\n")
            )
            #expect(text.contains("    scanning: "))
        },
        .world
    )
    func budget() async {
        world.trackEnergy()
        let device = world.addDevice(named: "Phone")
        let manager = device.launch("app") { _ in CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        await world.expect(manager, is: .poweredOn)
        await world.run(for: .seconds(3))
        #expect(world.expectEnergy(of: "Phone", app: "app", below: .microampereHours(12), per: .hour))
        manager.scanForPeripherals(withServices: nil)
        await world.run(for: .seconds(600))
        #expect(!world.expectEnergy(of: "Phone", app: "app", below: .microampereHours(12), per: .hour))
    }

    @Test("two apps share a link equally; what one of them does alone is its own", .world)
    func linkIsShared() async throws {
        world.trackEnergy()
        let pair = TestPair(in: world)
        let second = pair.phone.launch("second") { _ in TestFollower() }
        await world.until { pair.follower.notes.all.last == "subscribed" && second.notes.all.last == "subscribed" }
        let before = try #require(world.energy(of: "Phone"))
        await world.run(for: .seconds(60))
        let after = try #require(world.energy(of: "Phone"))
        let used = ["follower", "second"].map { after.charge(of: $0) - before.charge(of: $0) }
        #expect(used[0] > .zero && abs((used[0] - used[1]).microcoulombs) < used[0].microcoulombs / 1_000)
        try Self.expectComplete(pair.phone)
    }

    @Test("restarts and unplugged controllers lose nothing", .world)
    func restart() async throws {
        world.trackEnergy()
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        await world.run(for: .seconds(2))
        pair.phone.setController(isPluggedIn: false)
        await world.run(for: .seconds(2))
        pair.phone.setController(isPluggedIn: true)
        await world.run(for: .seconds(20))
        try Self.expectComplete(pair.phone)
        pair.phone.restart()
        await world.run(for: .seconds(10))
        for device in world.simulation.devices { try Self.expectComplete(device) }
    }

    @Test("nothing is tracked unless a test asks for it", .world)
    func untracked() async {
        _ = TestPair(in: world)
        await world.run(for: .seconds(5))
        #expect(world.energy(of: "Phone") == nil)
        world.trackEnergy()
        #expect(world.energy(of: "Phone") != nil && world.energy(of: "Nobody") == nil)
    }
}
