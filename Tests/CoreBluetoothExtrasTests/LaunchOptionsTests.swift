import CoreBluetoothExtras
import ServiceMessages
import Testing

@Suite struct LaunchOptionsTests {
    @Test("behaviour 10.6: launch options name the managers by Apple's keys, only for roles that have some")
    func launchOptionsNameTheManagers() {
        let both = RestoreIdentifiers(centrals: ["one", "two"], peripherals: ["three"]).launchOptions
        #expect(both[.bluetoothCentrals] == ["one", "two"] && both[.bluetoothPeripherals] == ["three"])
        #expect(both.keys.map(\.rawValue).sorted().first == "UIApplicationLaunchOptionsBluetoothCentralsKey")
        #expect(RestoreIdentifiers(peripherals: ["three"]).launchOptions == [.bluetoothPeripherals: ["three"]])
        #expect(RestoreIdentifiers().launchOptions.isEmpty)
    }
}
