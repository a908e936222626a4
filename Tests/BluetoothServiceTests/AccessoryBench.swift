import BluetoothTypes
import ServiceMessages

@testable import BluetoothService

/// A phone with one app, and an ``TestAccessory`` in range.
struct AccessoryBench {
    let air: RadioWorld
    let phone: BluetoothSystem
    let central: TestManager
    let accessory: TestAccessory

    /// - Parameters:
    ///   - hasExtendedAdvertising: Whether both controllers support extended advertising.
    ///   - tellsOfChanges: Whether the accessory has the Service Changed characteristic.
    ///   - value: The value that the accessory publishes.
    init(hasExtendedAdvertising: Bool = true, tellsOfChanges: Bool = true, value: PacketBuffer = [7]) throws {
        air = RadioWorld(hasExtendedAdvertising: hasExtendedAdvertising)
        phone = air.system("Phone")
        central = air.world.manager(.central, on: phone)
        central.take()
        accessory = try TestAccessory(on: air, tellsOfChanges: tellsOfChanges)
        try accessory.publish(value: value)
    }

    var world: ServiceWorld { air.world }
}
