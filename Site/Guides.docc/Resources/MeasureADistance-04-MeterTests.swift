import Accessories
import BluetoothSimulation
import CoreBluetooth
import Testing

@testable import Meter

let file = """
    {
        "format": 1, "name": "Tag", "channelSounding": true,
        "advertising": {"services": ["185B"]}
    }
    """

@Test func showsTheDistance() throws {
    let world = SimulatedWorld(seed: 1)
    let accessory = try Accessory(json: file)
    let tag = world.addAccessory(accessory, at: Position(x: 3))
    let options = DeviceOptions(channelSounding: .supported)
    let phone = world.addDevice(named: "Phone", options: options)
    phone.person.behaves(.agrees(lookingAt: [tag.device]))
    let meter = Meter()
    phone.launch("meter") { _ in meter.start() }
    world.run(for: .seconds(10))
    #expect(meter.distances.count >= 5)
    #expect(meter.distances.allSatisfy { abs($0 - 3) < 0.3 })
}
