import CoreBluetooth
import TestBasics
import Testing

@testable import BluetoothTesting

/// The hints in the report of a failure.
@Suite struct WorldHintTests {
    @Test("a manager that an app does not keep is a hint", .world)
    func aReleasedManager() async {
        world.addDevice(named: "Phone").launch("app") { _ in
            _ = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        }
        await world.run(for: .seconds(1))
        #expect(
            world.story.hints == [
                "Phone: app released its CBCentralManager at 00:00.000, before it received its state: "
                    + "keep the manager in a property"
            ]
        )
    }

    @Test("a scan for a service that nothing advertises is a hint, with what is advertised", .world)
    func aScanInVain() async {
        _ = TestPair(in: world)
        let manager = world.addDevice(named: "Other").launch("app") { _ in
            CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        }
        await world.expect(manager, is: .poweredOn)
        manager.scanForPeripherals(withServices: [CBUUID(string: "180F")])
        await world.run(for: .seconds(1))
        let hint = world.story.hints.last ?? ""
        #expect(hint.hasPrefix("Other: app has scanned for Battery (180F) since 00:00.000 and discovered nothing; "))
        #expect(hint.hasSuffix("advertised were: \"Belt\" with Heart Rate (180D)"))
    }

    @Test("an app that does what it has to do gets no hints", .world)
    func noHints() async {
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        #expect(world.story.hints.isEmpty)
    }

    @Test("an app that crashes when it creates its manager has not released it", .world(misuse: .isAllowed))
    func aCrash() async {
        let phone = world.addDevice(named: "Phone", DeviceOptions(permission: .notDetermined))
        phone.launch("app") { _ in CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        await world.run(for: .seconds(1))
        #expect(world.story.lines().contains { $0.contains("lacks NSBluetoothAlwaysUsageDescription") })
        #expect(!world.story.hints.contains { $0.contains("released its") })
    }

    @Test("a manager that is created outside of all apps is a hint", .gathers(Self.namesOutsider), .world)
    func anOutsider() async {
        let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        await world.run(for: .seconds(5))
        #expect(manager.delegate != nil)
    }

    @Sendable private static func namesOutsider(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        let hint = issues.first?.comments.first ?? ""
        #expect(hint.hasPrefix("likely cause: a manager was created, or its class was asked, outside of all apps"))
        #expect(hint.contains("in the closure of launch or install"))
    }

    @Test("the story and the hints name a queue whose callback does not return")
    func aBlockedQueue() {
        let story = WorldStory()
        story.noteBlocked("app")
        #expect(story.lines().first?.contains("the last callback on the queue \"app\" does not return") == true)
        #expect(story.hints == story.blocked.map { "\($0) (00:00.000)" })
    }
}
