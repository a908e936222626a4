import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct PermissionTests {
    private func info(_ manager: TestManager) -> SystemInfo? {
        guard case .success(.system(let info)) = manager.connection.ask(.system, from: .none) else { return nil }
        return info
    }

    @Test("behaviour 1.18: an app without permission sees unauthorized, whatever the radio state")
    func anAppThatMayNotUseBluetooth() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(1))
        pair.central.take()
        let other = ServiceWorld.named("other", on: pair)
        pair.phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "test"))
        pair.world.run(.seconds(1))
        #expect(pair.central.take() == [.stateChanged(.unauthorized)])
        #expect(pair.phone.system.links.all.isEmpty)
        #expect(!pair.phone.controller.isScanning)
        #expect(other.take() == [.stateChanged(.poweredOn)])
        #expect(info(pair.central)?.permission == .denied)
        #expect(info(other)?.permission == .allowedAlways)
        // Nothing is done for the app, and no alert is shown.
        pair.central.send(.startScan(ScanRequest()))
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        pair.phone.system.controllers.setPower(false)
        pair.phone.system.controllers.setPower(true)
        pair.world.run(.seconds(5))
        #expect(pair.central.take().isEmpty)
        #expect(pair.phone.system.links.all.isEmpty)
        #expect(pair.central.ask(.peripherals(identifiers: [pair.peer])).isEmpty)
        #expect(other.take() == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
        pair.phone.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "test"))
        pair.world.run(.seconds(1))
        #expect(pair.central.take() == [.stateChanged(.poweredOn)])
        _ = try pair.connected()
    }

    @Test("behaviour 1.18: revoking permission removes an app's services")
    func revokingPermissionRemovesServices() throws {
        let pair = try ConnectedPair()
        pair.strap.system.apps.permissions.set(.restricted, for: AppIdentity(name: "test"))
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take() == [.stateChanged(.unauthorized)])
        #expect(!pair.strap.controller.isAdvertising)
        pair.strap.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "test"))
        pair.world.run(.seconds(1))
        pair.sensor.take()
        try pair.sensor.publish()
    }

    @Test("AB-G07: permission for one user's app does not apply to another user's app of that name")
    func permissionIsOfAUsersApp() {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let managers = [1_000, 1_001].map { owner in
            phone.manager(.central, of: phone.system.openApp(AppIdentity(name: "app", owner: owner)))
        }
        phone.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "app", owner: 1_000))
        world.run(.seconds(1))
        #expect(managers[0].take() == [.stateChanged(.poweredOn)] && managers[1].take().isEmpty)
        phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "app", owner: 1_001))
        world.run(.seconds(1))
        #expect(managers[0].take().isEmpty && managers[1].take() == [.stateChanged(.unauthorized)])
        phone.system.apps.permissions.reset(AppIdentity(name: "app", owner: 1_001))
        world.run(.seconds(1))
        #expect(managers[0].take().isEmpty && info(managers[0])?.permission == .allowedAlways)
        #expect(info(managers[1])?.permission == .notDetermined)
    }

    @Test("behaviour 1.18: until the permission question is answered, an app does not see the radio state")
    func untilSomebodyHasDecided() throws {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let central = phone.manager(.central)
        world.run(.seconds(5))
        #expect(central.take().isEmpty)
        #expect(info(central)?.permission == .notDetermined)
        phone.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "test"))
        world.run(.seconds(1))
        #expect(central.take() == [.stateChanged(.poweredOn)])
    }

    @Test(
        "behaviour 1.25: the system reports whether its controller supports extended scanning and connecting",
        arguments: [false, true]
    )
    func extendedScanAndConnect(isThere: Bool) {
        let air = RadioWorld(hasExtendedAdvertising: isThere)
        let system = air.system("Phone")
        let central = air.world.manager(.central, on: system)
        #expect(info(central)?.hasExtendedScanAndConnect == isThere)
        system.controllers.setPower(false)
        air.world.run(.seconds(1))
        #expect(info(central)?.hasExtendedScanAndConnect == false)
    }
}

extension ServiceWorld {
    /// A central manager of an app with another name.
    fileprivate static func named(_ name: String, on pair: ConnectedPair) -> TestManager {
        pair.phone.manager(.central, of: pair.phone.system.openApp(AppIdentity(name: name)))
    }
}
