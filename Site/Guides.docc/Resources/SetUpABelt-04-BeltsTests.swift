import AccessorySetupKit
import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import Belts

/// What a belt runs: it advertises the heart-rate service.
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

@Test func theUserChoosesABelt() {
    let world = SimulatedWorld(seed: 1)
    let strap = world.addDevice(named: "Belt")
    let belt = strap.launch("belt", advertise)
    let options = DeviceOptions(permission: .notDetermined)
    let phone = world.addDevice(named: "Phone", options: options)
    phone.person.answersAboutAccessories { question in
        question.offers.first.map { .choose($0.identifier) }
    }
    var declaration = AppDeclaration(displayName: "Belts")
    declaration.setup = SetupDeclaration(services: ["180D"])
    let belts = Belts()
    phone.launch("belts", declaring: declaration) { _ in belts.start() }
    withExtendedLifetime(belt) {
        world.run(for: .seconds(1))
        belts.add()
        world.run(for: .seconds(10))
        #expect(belts.events == ["added Heart-rate belt"])
        #expect(phone.person.permissionQuestions.isEmpty)
    }
}
