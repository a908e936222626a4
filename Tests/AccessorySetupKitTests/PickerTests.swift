import AccessorySetupKit
import BluetoothSimulation
import CoreBluetooth
import Testing

/// The picker, and what an app may reach.
@Suite struct PickerTests {
    @Test("behaviours 1.23, 16.3, 16.5: the user chooses an accessory, which the app then reaches, and no other")
    func theChosenAccessoryIsReached() throws {
        let world = SetupWorld()
        let app = world.launch(central: true)
        // The phone would ask for a permission otherwise (behaviour 1.18).
        #expect(app.take() == ["activated", "central 4"])
        world.choose("Belt 2")
        app.showPicker()
        world.world.run(for: .seconds(5))
        let news = app.take()
        #expect(
            news.filter { $0.hasPrefix("central") || $0.hasPrefix("discovered") } == [
                "central on", "discovered Belt 2",
            ]
        )
        let setup = ["pickerDidPresent", "accessoryAdded Heart belt", "pickerDidDismiss", "picker: done"]
        #expect(news.filter(setup.contains) == setup)
        #expect(news.count == 6)
        #expect(world.phone.person.permissionQuestions.isEmpty)
        let shown = try #require(world.phone.person.accessoryQuestions.last)
        #expect(shown.app.displayName == "Belts")
        #expect(shown.offers.map(\.name).allSatisfy { $0 == "Heart belt" })
        #expect(shown.offers.map(\.image).allSatisfy { $0 == "belt" })
        #expect(world.phone.person.accessoryQuestions.first?.offers.isEmpty == true)
        let accessory = try #require(app.session.accessories.first)
        #expect(accessory.state == .authorized)
        #expect(accessory.bluetoothIdentifier == app.found.first?.identifier)
        #expect(accessory.descriptor.bluetoothServiceUUID == BeltApp.service)
        let identifier = try #require(accessory.bluetoothIdentifier)
        let peripheral = try #require(app.central?.retrievePeripherals(withIdentifiers: [identifier]).first)
        app.central?.connect(peripheral)
        world.world.run(for: .seconds(2))
        #expect(app.take() == ["connected"])
    }

    @Test("behaviour 1.23: scans, retrievals, connections and connection events leave out what an app has not set up")
    func othersAreOutOfReach() throws {
        let world = SetupWorld()
        // An app without AccessorySetupKit knows both belts, and is connected to them.
        world.phone.person.permits { _ in .allow }
        let free = world.launch("free", central: true, AppDeclaration(usageDescription: "To find belts"))
        world.world.run(for: .seconds(5))
        let all = free.found
        #expect(all.count == 2)
        for peripheral in all { free.central?.connect(peripheral) }
        world.world.run(for: .seconds(5))
        let app = world.launch(central: true)
        let mine = try #require(all.first { $0.name == "Belt 1" }?.identifier)
        #expect(app.retrieved(all.map(\.identifier)) == [[], []])
        let accessory = try #require(world.setUp(app))
        #expect(accessory.bluetoothIdentifier == mine)
        #expect(app.retrieved(all.map(\.identifier)) == [[mine], [mine]])
        #expect(app.found.map(\.name) == ["Belt 1"])
        #expect(world.phone.person.accessoryQuestions.last?.offers.first?.isShared == false)
    }

    @Test("behaviours 16.3, 16.4: a picker without finds ends after 30 s, or after the time that the app sets")
    func pickersTimeOut() {
        for (timeout, seconds) in [(nil, 30), (ASPickerDisplaySettings.DiscoveryTimeout.short, 60)] {
            let world = SetupWorld(["Bell"])
            let app = world.launch()
            let settings = ASPickerDisplaySettings.default
            settings.discoveryTimeout = timeout ?? settings.discoveryTimeout
            app.session.pickerDisplaySettings = settings
            world.phone.person.answersAboutAccessories { _ in nil }
            app.showPicker([BeltApp.item { $0.bluetoothNameSubstring = "Belt" }])
            world.world.run(for: .seconds(seconds - 1))
            #expect(app.take() == ["activated", "pickerDidPresent"])
            world.world.run(for: .seconds(2))
            #expect(app.take() == ["pickerDidDismiss", "picker: discoveryTimeout"])
        }
    }

    @Test("behaviour 16.3: one picker at a time, in the foreground, until the user cancels")
    func pickersAreRestricted() {
        let world = SetupWorld()
        let (first, second) = (world.launch("first"), world.launch("second"))
        world.phone.person.answersAboutAccessories { _ in nil }
        first.showPicker()
        second.showPicker()
        world.world.run(for: .seconds(1))
        #expect(first.take() == ["activated", "pickerDidPresent"])
        #expect(second.take() == ["activated", "picker: pickerAlreadyActive"])
        world.phone.person.answersAboutAccessories { _ in .refuse }
        world.world.run(for: .seconds(1))
        #expect(first.take() == ["pickerDidDismiss", "picker: userCancelled"])
        #expect(first.session.accessories.isEmpty)
        first.process.leave()
        first.showPicker()
        world.world.run(for: .seconds(1))
        #expect(first.take() == ["picker: pickerRestricted"])
        first.session.showPicker(completionHandler: first.outcome("extension"))
        #expect(first.take() == ["extension: extensionNotFound"])
    }

    @Test("behaviour 16.3: leaving the app ends its picker")
    func leavingEndsThePicker() {
        let world = SetupWorld()
        let app = world.launch()
        world.phone.person.answersAboutAccessories { _ in nil }
        app.showPicker()
        world.world.run(for: .seconds(1))
        app.process.leave()
        world.world.run(for: .seconds(1))
        #expect(app.take().suffix(2) == ["pickerDidDismiss", "picker: pickerRestricted"])
    }

    @Test("behaviour 16.1: before iOS 18 there is no AccessorySetupKit, and its keys change nothing")
    func olderVersionsLackIt() {
        for version in [17, 18] {
            let world = SetupWorld(
                version: SystemVersion(integerLiteral: version),
                permission: .allowedAlways
            )
            let app = world.launch(central: true)
            world.world.run(for: .seconds(4))
            let old = ["invalidated activationFailed", "central on", "discovered Belt 1", "discovered Belt 2"]
            #expect(Set(app.take()) == (version < 18 ? Set(old) : ["activated", "central 4"]))
            app.showPicker()
            world.world.run(for: .seconds(1))
            #expect(app.take().last == "picker: \(version < 18 ? "invalidated" : "userCancelled")")
        }
    }

    @Test("behaviour 16.2: an app that looks for what its Info.plist does not declare crashes")
    func undeclaredTraitsCrash() {
        let items: [(String, (ASDiscoveryDescriptor) -> Void)] = [
            ("service", { $0.bluetoothServiceUUID = CBUUID(string: "180F") }),
            ("company", { $0.bluetoothCompanyIdentifier = ASBluetoothCompanyIdentifier(0x0059) }),
            ("name", { $0.bluetoothNameSubstring = "Bel" }),
        ]
        for (name, change) in items {
            let world = SetupWorld([])
            let app = world.launch()
            app.showPicker([BeltApp.item([], change)])
            world.world.run(for: .seconds(1))
            #expect(app.process.phase == .notRunning(.crashed), "\(name)")
        }
        let world = SetupWorld([])
        let app = world.launch("plain", AppDeclaration())
        app.showPicker()
        world.world.run(for: .seconds(1))
        #expect(app.process.phase == .notRunning(.crashed))
    }

    @Test("behaviour 16.4: invalid descriptors and those for Wi-Fi are refused")
    func invalidDescriptorsAreRefused() {
        let world = SetupWorld([])
        let app = world.launch()
        _ = app.take()
        let changes: [(ASDiscoveryDescriptor) -> Void] = [
            { $0.bluetoothServiceUUID = nil }, { $0.bluetoothServiceDataBlob = Data([1]) },
            { $0.bluetoothManufacturerDataBlob = Data([1]) }, { $0.ssid = "Belt" }, { $0.ssidPrefix = "B" },
        ]
        for change in changes { app.showPicker([BeltApp.item([], change)]) }
        app.showPicker([])
        world.world.run(for: .seconds(1))
        #expect(app.take() == [String](repeating: "picker: invalidRequest", count: 6))
    }
}
