import BluetoothTesting
import CoreBluetooth
import CoreBluetoothExtras

@testable import Finder

/// What a belt runs: it advertises its name.
func advertise(_ app: SimulatedApp) -> CBPeripheralManager {
    let queue = DispatchQueue(label: "belt")
    let manager = CBPeripheralManager(delegate: nil, queue: queue)
    app.task {
        try await manager.poweredOn()
        let content = AdvertisedContent(localName: app.device.name)
        try await manager.advertise(content)
    }
    return manager
}

@Test(.world) func findsBeltsInTheBackground() async {
    var declaration = AppDeclaration()
    declaration.supportsLiveActivities = true
    let phone = world.addDevice(named: "Phone")
    let (app, finder) = phone.launch("finder", declaring: declaration) {
        let finder = Finder()
        finder.start()
        return ($0, finder)
    }
    await world.run(for: .seconds(1))
    app.leave()

    let first = world.addDevice(named: "Belt")
    let belt = first.launch("belt", advertise)
    await world.run(for: .seconds(5))
    #expect(finder.names == ["Belt"])

    app.endLiveActivity()
    let second = world.addDevice(named: "Strap")
    let strap = second.launch("belt", advertise)
    await world.run(for: .seconds(5))
    #expect(finder.names == ["Belt"])
    withExtendedLifetime((belt, strap)) {}
}
