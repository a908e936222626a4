import BluetoothSimulation
import Testing

/// All types of a world that tests name come with `BluetoothSimulation`. Otherwise this file does not compile.
@Suite struct SingleImportTests {
    @Test("places, air, interference, declarations, permissions and options come with one import")
    func oneImport() {
        let world = SimulatedWorld(seed: 1, radio: Radio.Configuration())
        let options = DeviceOptions(
            linger: .seconds(5),
            permission: .denied,
            startsAdvertisingInBackground: false,
            version: 17,
            quirks: [ControllerQuirk.setEndBeforeConnection]
        )
        let device = world.addDevice(named: "Phone", at: Position(x: 3), options: options)
        world.changeAir { $0.interference = [.wifi(channel: 6, at: Position(y: 1), share: 0.5)] }
        world.setQuality(AirQuality(lossRate: 0.5), from: device, to: device)
        let declaration = AppDeclaration(usageDescription: "to find belts")
        let permission = device.launch("app", declaring: declaration) { _ in AppPermission.denied }
        #expect(permission == options.permission)
        #expect(!world.run(for: .milliseconds(1), at: Pace(speed: 1_000)))
        #expect(world.loop is VirtualEventLoop)
    }

    @Test("the preset of an accessory keeps its address and has no input or output; that of a phone is the default")
    func presets() {
        #expect(DeviceOptions.accessory.addressLifetime == nil)
        #expect(DeviceOptions.accessory.pairingScreen == .none)
        #expect(DeviceOptions.phone == DeviceOptions())
    }
}
