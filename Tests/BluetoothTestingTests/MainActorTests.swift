import BluetoothTesting
import CoreBluetooth
import Foundation
import Testing

/// An app of today: a class on the main actor, with its manager on the main queue.
@MainActor
final class MainActorApp: NSObject, @preconcurrency CBCentralManagerDelegate {
    private(set) var names: [String] = []
    private(set) var isOn = false
    private var manager: CBCentralManager?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        isOn = central.state == .poweredOn
        if isOn { central.scanForPeripherals(withServices: [TestBelt.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        names.append(advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "")
    }
}

/// Waiting for apps on the main actor.
@Suite(.world) struct MainActorTests {
    @MainActor
    private static func launch() -> MainActorApp {
        let belt = world.addDevice(named: "Belt", .accessory)
        belt.launch("belt") { _ in TestBelt() }
        return world.addDevice(named: "Phone").launch("app") { _ in MainActorApp() }
    }

    @Test("an app on the main actor is launched from a test that is not")
    func launchedOnTheMainActor() async {
        world.addDevice(named: "Belt", .accessory).launch("belt") { _ in TestBelt() }
        let app = await world.addDevice(named: "Phone").launchOnMainActor("app") { _ in MainActorApp() }
        #expect(await world.expectOnMainActor(app.names, equals: ["Belt"]))
    }

    @Test("an installed app is launched on the main actor, each time")
    func installedOnTheMainActor() async throws {
        world.addDevice(named: "Belt", .accessory).launch("belt") { _ in TestBelt() }
        let phone = world.addDevice(named: "Phone")
        phone.installOnMainActor("app") { _, _ in MainActorApp() }
        for _ in 1...2 {
            phone.open("app")
            await world.run(for: .seconds(5))
            let app = try #require(phone.app("app", as: MainActorApp.self))
            #expect(await app.names == ["Belt"])
            phone.app("app")?.crash()
            await world.run(for: .seconds(5))
        }
        #expect(phone.app("app", as: MainActorApp.self) == nil)
    }

    @Test("a synchronous test on the main actor opens an app on the main actor")
    @MainActor
    func aSynchronousTest() throws {
        let phone = world.addDevice(named: "Phone")
        phone.installOnMainActor("app") { _, _ in MainActorApp() }
        phone.open("app")
        world.run(for: .seconds(5))
        #expect(try #require(phone.app("app", as: MainActorApp.self)).isOn)
    }

    @Test("conditions and values of an app on the main actor are waited for, in a test on the main actor")
    @MainActor
    func onTheMainActor() async {
        let app = Self.launch()
        #expect(await world.untilOnMainActor { app.isOn })
        #expect(await world.expectOnMainActor(app.names, equals: ["Belt"]))
        #expect(app.names == ["Belt"])
    }
}
