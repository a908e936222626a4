import BluetoothTypes
import Foundation
import GAP
import L2CAP
import ServiceMessages
import Testing

@testable import BluetoothService

/// Behaviour that differs between versions of iOS.
@Suite struct SystemVersionTests {
    @Test("behaviour 1.8: before iOS 13, known peripherals were retrieved in every state", arguments: [12, 13, 26])
    func knownPeripheralsWithoutPower(version: Int) throws {
        let pair = try ConnectedPair { $0.version = SystemVersion(integerLiteral: version) }
        pair.phone.system.controllers.setPower(false)
        pair.world.run(.seconds(1))
        #expect(pair.central.ask(.peripherals(identifiers: [pair.peer])).isEmpty == (version >= 13))
    }

    @Test("behaviour 1.18: before iOS 13, no permission was required", arguments: [12, 13, 26])
    func permissionWasNotNeeded(version: Int) {
        let world = ServiceWorld()
        let phone = world.device("Phone") {
            $0.version = SystemVersion(integerLiteral: version)
            $0.permission = .notDetermined
        }
        let app = phone.app("Heart", usage: "To read your belt")
        let manager = phone.manager(.central, of: app)
        world.run(.seconds(1))
        #expect(manager.take() == (version < 13 ? [.stateChanged(.poweredOn)] : []))
        #expect(app.phase == .foreground)
    }

    @Test(
        "behaviours 3.27, 3.28: a peripheral may request the parameters that the version accepts",
        arguments: [10, 17, 18, 26]
    )
    func aPeripheralMayAskForWhatTheVersionTakes(version: Int) throws {
        let pair = try ConnectedPair { $0.version = SystemVersion(integerLiteral: version) }
        _ = try pair.connected()
        let link = try #require(pair.phone.system.links.all.first)
        func takes(_ minimum: UInt16, _ maximum: UInt16, _ timeout: UInt16) -> Bool {
            link.link.parameterPolicy(
                ConnectionParameters(intervalMinimum: minimum, intervalMaximum: maximum, latency: 0, timeout: timeout)
            )
        }
        #expect(takes(12, 24, 600) == (version >= 11))
        #expect(takes(24, 40, 601) == (version >= 18))
        #expect(takes(24, 40, 400) == (version < 18))
        #expect(takes(24, 40, 200) == (version < 18))
    }

    @Test(
        "behaviour 10.17: from iOS 26 on, an app with AccessorySetupKit survives a force quit",
        arguments: [25, 26],
        [false, true]
    )
    func anAppWithAccessorySetup(version: Int, isSetUp: Bool) {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.version = SystemVersion(integerLiteral: version) }
        var declaration = AppDeclaration(backgroundModes: .central)
        declaration.usesAccessorySetup = isSetUp
        let app = phone.system.openApp(AppIdentity(name: "app"), declaring: declaration)
        _ = phone.manager(.central, of: app, restoring: "one")
        app.happened(.ended(.forceQuit))
        #expect(phone.system.apps.preservation.apps.isEmpty == !(version >= 26 && isSetUp))
    }
}
