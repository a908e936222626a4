import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import Testing

/// The app's view of its permission and of the device's controller.
@Suite struct AppPermissionTests {
    private final class Onlooker: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        // Safe: state that the callbacks change has a lock.
        let seen = Mutex<[String]>([])
        private var manager: CBCentralManager!

        override init() {
            super.init()
            manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "onlooker"))
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            let isExtended = CBCentralManager.supports(.extendedScanAndConnect)
            seen.withLock { $0.append("\(central.state.rawValue) \(CBManager.authorization.rawValue) \(isExtended)") }
        }
    }

    @Test(
        "behaviours 1.18, 1.20, 1.25: an app sees its permission and the controller's features",
        arguments: [false, true]
    )
    func anAppSeesWhatItMayAndWhatTheControllerCan(isExtended: Bool) {
        let world = SimulatedWorld(seed: 1)
        let phone = world.addDevice(named: "Phone", options: DeviceOptions(hasExtendedAdvertising: isExtended))
        let apps = ["first", "second"].map { name in phone.launch(name) { _ in Onlooker() } }
        world.run(for: .seconds(1))
        phone.setPermission(.denied, forApp: "first")
        world.run(for: .seconds(1))
        phone.setPermission(.allowedAlways, forApp: "first")
        world.run(for: .seconds(1))
        let seen = apps.map { $0.seen.withLock { $0 } }
        #expect(seen[0] == ["5 3 \(isExtended)", "3 2 \(isExtended)", "5 3 \(isExtended)"])
        #expect(seen[1] == ["5 3 \(isExtended)"])
    }
}
