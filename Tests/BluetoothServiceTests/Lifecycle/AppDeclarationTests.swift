import Foundation
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct AppDeclarationTests {
    @Test(
        "behaviours 1.19, 9.5, 9.6: an app declares itself in a property list, as on Apple's systems",
        arguments: [true, false]
    )
    func anAppDeclaresItself(isBinary: Bool) throws {
        let list: [String: Any] = [
            "CFBundleDisplayName": "Heart", "NSBluetoothAlwaysUsageDescription": "To read your belt",
            "UIBackgroundModes": ["audio", "bluetooth-peripheral"],
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: list,
            format: isBinary ? .binary : .xml,
            options: 0
        )
        let read = try PropertyListSerialization.propertyList(from: data, format: nil)
        let declaration = AppDeclaration(propertyList: try #require(read as? [String: Any]))
        let expected = AppDeclaration(
            displayName: "Heart",
            usageDescription: "To read your belt",
            backgroundModes: .peripheral
        )
        #expect(declaration == expected)
        #expect(AppDeclaration(propertyList: ["UIBackgroundModes": ["bluetooth-central"]]).backgroundModes == .central)
    }

    @Test func propertiesOfTheWrongTypeCountAsMissing() {
        let list: [String: Any] = [
            "CFBundleDisplayName": 7, "NSBluetoothAlwaysUsageDescription": ["a"],
            "UIBackgroundModes": "bluetooth-central",
        ]
        #expect(AppDeclaration(propertyList: list) == AppDeclaration())
    }

    @Test("behaviours 7.25, 10.22: an unmanaged app is in the foreground, even if the system launched it")
    func anAppThatNobodyManagesIsInFront() throws {
        let world = ServiceWorld()
        let strap = world.device("Strap")
        for (declaration, phase) in [(AppDeclaration.unmanaged, AppPhase.foreground), (AppDeclaration(), .suspended)] {
            let app = strap.system.openApp(AppIdentity(name: "App"), declaring: declaration, inBackground: true)
            world.run(AppLifecycle.grace)
            #expect(app.phase == phase)
            if phase == .foreground { try strap.manager(.peripheral, of: app).publish() }
        }
    }
}
