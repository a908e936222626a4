import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import Heart

/// What the belt runs: it advertises the heart-rate service.
func advertise(_ app: SimulatedApp) -> CBPeripheralManager {
    let queue = DispatchQueue(label: "belt")
    let manager = CBPeripheralManager(delegate: nil, queue: queue)
    app.task {
        try await manager.poweredOn()
        let service = CBUUID(string: "180D")
        let content = AdvertisedContent(localName: "Belt", services: [service])
        try await manager.advertise(content)
    }
    return manager
}

@Test func connects() {
    let world = SimulatedWorld(seed: 1)
    let follower = Follower()
    let strap = world.addDevice(named: "Belt")
    let belt = strap.launch("belt", advertise)
    let phone = world.addDevice(named: "Phone", at: Position(x: 1))
    phone.launch("follower") { _ in follower.start() }
    withExtendedLifetime(belt) {
        world.run(for: .seconds(10))
        #expect(follower.events == ["connected"])
    }
}
