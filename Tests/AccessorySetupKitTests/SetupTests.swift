import AccessorySetupKit
import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Synchronization
import Testing

/// What becomes of accessories: pairing, authorization, names, removal, migration and persistence.
@Suite struct SetupTests {
    @Test("behaviours 16.5, 16.7: an accessory pairs in its setup, without a question, and is forgotten at its end")
    func pairsDuringSetup() throws {
        let world = SetupWorld()
        let app = world.launch()
        world.choose("Belt 1")
        app.showPicker([BeltApp.item(pairs: true)])
        world.world.run(for: .seconds(5))
        let expected = [
            "activated", "pickerDidPresent", "pickerSetupPairing", "accessoryAdded Heart belt", "pickerDidDismiss",
            "picker: done",
        ]
        #expect(app.take() == expected)
        #expect(world.phone.person.alerts.isEmpty)
        #expect(world.paired == ["Belt 1"])
        let accessory = try #require(app.session.accessories.first)
        app.session.removeAccessory(accessory, completionHandler: app.outcome("removal"))
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["accessoryRemoved Heart belt", "removal: done"])
        #expect(world.paired.isEmpty)
        #expect(app.session.accessories.isEmpty)
    }

    @Test("behaviour 16.5: a code is still compared by the user; who declines ends the setup")
    func codesAreCompared() {
        for agrees in [true, false] {
            let world = SetupWorld(screen: .displayAndButtons)
            let app = world.launch()
            world.choose("Belt 1")
            if agrees {
                world.phone.person.behaves(.agrees(lookingAt: world.belts))
                world.belts[0].person.behaves(.agrees(lookingAt: [world.phone]))
            }
            app.showPicker([BeltApp.item(pairs: true)])
            world.world.run(for: .seconds(10))
            let end = agrees ? ["pickerDidDismiss", "picker: done"] : ["pickerDidDismiss", "picker: connectionFailed"]
            let news = app.take()
            #expect(news.suffix(2) == end[...])
            #expect(news.contains("pickerSetupFailed connectionFailed") != agrees)
            #expect(world.paired.isEmpty != agrees)
            #expect(app.session.accessories.isEmpty != agrees)
        }
    }

    @Test("behaviour 16.5: an accessory that is gone fails its setup after 30 s")
    func lostAccessoriesFail() {
        let world = SetupWorld(["Belt 1"])
        let app = world.launch()
        let belt = world.belts[0]
        world.phone.person.answersAboutAccessories { question in
            guard let offer = question.offers.first else { return nil }
            belt.move(to: Position(x: 10_000))
            return .choose(offer.identifier)
        }
        app.showPicker([BeltApp.item(pairs: true)])
        world.world.run(for: .seconds(29))
        #expect(app.take().last == "pickerSetupPairing")
        world.world.run(for: .seconds(5))
        #expect(app.take() == ["pickerSetupFailed connectionFailed", "pickerDidDismiss", "picker: connectionFailed"])
    }

    @Test("behaviour 16.6: an app that confirms the authorization finishes or fails it before the picker is gone")
    func appsConfirmAuthorization() throws {
        for succeeds in [true, false] {
            let world = SetupWorld()
            let app = world.launch()
            world.choose("Belt 1", renamingTo: "Left belt")
            app.showPicker([BeltApp.item([.confirmAuthorization, .rename], pairs: true)])
            world.world.run(for: .seconds(5))
            #expect(app.take() == ["activated", "pickerDidPresent", "accessoryAdded Heart belt"])
            let accessory = try #require(app.session.accessories.first)
            #expect(accessory.state == .awaitingAuthorization)
            app.process.task { app.makeCentral() }
            world.world.run(for: .seconds(1))
            #expect(app.take() == ["central on", "discovered Belt 1"])
            if succeeds {
                let settings = ASAccessorySettings.default
                app.session.finishAuthorization(
                    for: accessory,
                    settings: settings,
                    completionHandler: app.outcome("end")
                )
            } else {
                app.session.failAuthorization(for: accessory, completionHandler: app.outcome("end"))
            }
            world.world.run(for: .seconds(1))
            let news = app.takeSetup()
            let finished = [
                "pickerSetupRename", "end: done", "accessoryChanged Left belt", "pickerDidDismiss", "picker: done",
            ]
            let failed = [
                "accessoryRemoved Heart belt", "pickerSetupFailed connectionFailed", "pickerDidDismiss",
                "picker: connectionFailed", "end: done",
            ]
            #expect(news == (succeeds ? finished : failed))
            #expect(app.session.accessories.map(\.state) == (succeeds ? [.authorized] : []))
            app.session.failAuthorization(for: accessory, completionHandler: app.outcome("again"))
            world.world.run(for: .seconds(1))
            #expect(app.take() == ["again: invalidRequest"])
        }
    }

    @Test("behaviours 16.7, 16.8: the user renames and removes accessories in the settings; their connections end")
    func theUserManagesAccessories() throws {
        let world = SetupWorld()
        let app = world.launch(central: true)
        let accessory = try #require(world.setUp(app))
        let peripheral = try #require(app.found.first)
        app.central?.connect(peripheral)
        world.world.run(for: .seconds(2))
        _ = app.take()
        #expect(world.phone.person.renamesAccessory("Heart belt", to: "My belt", ofApp: "belts"))
        #expect(!world.phone.person.renamesAccessory("Heart belt", to: "My belt", ofApp: "belts"))
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["accessoryChanged My belt"])
        #expect(app.session.accessories.map(\.displayName) == ["My belt"])
        #expect(app.session.accessories == [accessory])
        #expect(world.phone.person.removesAccessory("My belt", ofApp: "belts"))
        world.world.run(for: .seconds(1))
        #expect(Set(app.take()) == ["disconnected 7", "accessoryRemoved My belt", "central 4"])
        #expect(app.session.accessories.isEmpty)
    }

    @Test("behaviour 16.8: an app has the user rename an accessory, who may cancel")
    func appsAskForNames() throws {
        let world = SetupWorld()
        let app = world.launch()
        let accessory = try #require(world.setUp(app))
        app.session.renameAccessory(accessory, completionHandler: app.outcome("cancelled"))
        world.world.run(for: .seconds(1))
        world.choose("", renamingTo: "My belt")
        app.session.renameAccessory(accessory, completionHandler: app.outcome("renamed"))
        world.world.run(for: .seconds(1))
        app.session.renameAccessory(accessory, options: .ssid, completionHandler: app.outcome("SSID"))
        #expect(
            app.take() == [
                "cancelled: userCancelled", "accessoryChanged My belt", "renamed: done", "SSID: invalidRequest",
            ]
        )
    }

    @Test("behaviour 16.5: two apps share an accessory, and its bond ends with the last one")
    func appsShareAccessories() throws {
        let world = SetupWorld()
        let (first, second) = (world.launch("first"), world.launch("second"))
        let item = [BeltApp.item(pairs: true)]
        let one = try #require(world.setUp(first, item))
        let two = try #require(world.setUp(second, item))
        #expect(one == two)
        #expect(
            world.phone.person.accessoryQuestions.last?.offers.first { $0.advertisedName == "Belt 1" }?.isShared == true
        )
        // The first app has the belt, so its picker does not offer it again.
        let count = world.phone.person.accessoryQuestions.count
        world.phone.person.answersAboutAccessories { _ in nil }
        first.showPicker()
        world.world.run(for: .seconds(3))
        let offered = world.phone.person.accessoryQuestions.dropFirst(count).flatMap(\.offers).map(\.advertisedName)
        #expect(offered == ["Belt 2"])
        first.session.removeAccessory(one, completionHandler: first.outcome("removal"))
        world.world.run(for: .seconds(1))
        #expect(world.paired.count == 1)
        #expect(second.session.accessories.count == 1)
        second.session.removeAccessory(two, completionHandler: second.outcome("removal"))
        world.world.run(for: .seconds(1))
        #expect(world.paired.isEmpty)
    }

    @Test("behaviour 16.7: accessories outlast the app's process and a restart of the device")
    func accessoriesOutlastRestarts() throws {
        let world = SetupWorld()
        let first = world.launch()
        let accessory = try #require(world.setUp(first))
        world.phone.restart()
        world.world.run(for: .seconds(2))
        let again = world.launch(central: true)
        #expect(again.take().prefix(1) == ["activated"])
        #expect(again.session.accessories == [accessory])
        #expect(again.session.accessories.map(\.displayName) == ["Heart belt"])
        let identifier = try #require(accessory.bluetoothIdentifier)
        #expect(again.retrieved([identifier]).first == [identifier])
    }

    @Test("behaviour 16.9: peripherals of before are migrated, alone with one question or with a new accessory")
    func peripheralsMigrate() throws {
        for isMixed in [false, true] {
            let world = SetupWorld(permission: .allowedAlways)
            // The app of before knows a belt.
            let before = world.launch(central: true, AppDeclaration())
            world.world.run(for: .seconds(3))
            let known = try #require(before.found.first { $0.name == "Belt 1" }).identifier
            before.process.removeFromMemory()
            let app = world.launch()
            _ = app.take()
            let descriptor = BeltApp.item().descriptor
            let item = ASMigrationDisplayItem(name: "Old belt", productImage: UIImage(), descriptor: descriptor)
            item.peripheralIdentifier = known
            world.choose("Belt 2")
            app.showPicker(isMixed ? [item, BeltApp.item()] : [item])
            world.world.run(for: .seconds(5))
            let added = isMixed ? ["accessoryAdded Heart belt"] : []
            let end = ["migrationComplete Old belt", "pickerDidDismiss", "picker: done"]
            #expect(app.take() == ["pickerDidPresent"] + added + end)
            #expect(app.session.accessories.contains { $0.bluetoothIdentifier == known })
            #expect(world.phone.person.accessoryQuestions.first?.kind == (isMixed ? .pick : .migrate))
        }
    }

    @Test("behaviour 16.9: a central manager before the migration prevents it")
    func centralsPreventMigration() {
        let world = SetupWorld()
        let app = world.launch(central: true)
        _ = app.take()
        let item = ASMigrationDisplayItem(
            name: "Old belt",
            productImage: UIImage(),
            descriptor: BeltApp.item().descriptor
        )
        item.peripheralIdentifier = UUID()
        app.showPicker([item])
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["picker: pickerRestricted"])
    }

    @Test("behaviour 16.10: the user agrees to more of an accessory")
    func authorizationIsUpdated() throws {
        let world = SetupWorld()
        let app = world.launch()
        let accessory = try #require(world.setUp(app))
        let descriptor = accessory.descriptor
        descriptor.bluetoothNameSubstring = "Belt"
        app.session.updateAuthorization(
            for: accessory,
            descriptor: descriptor,
            completionHandler: app.outcome("update")
        )
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["accessoryChanged Heart belt", "update: done"])
        #expect(app.session.accessories.first?.descriptor.bluetoothNameSubstring == "Belt")
        descriptor.ssid = "Belt"
        app.session.updateAuthorization(for: accessory, descriptor: descriptor, completionHandler: app.outcome("Wi-Fi"))
        #expect(app.take() == ["Wi-Fi: invalidRequest"])
    }

    @Test("behaviour 16.1: a session that was invalidated reports that once, and refuses requests")
    func sessionsEnd() async throws {
        let world = SetupWorld()
        let app = world.launch()
        world.phone.person.answersAboutAccessories { _ in nil }
        app.showPicker()
        world.world.run(for: .seconds(1))
        app.session.invalidate()
        app.session.invalidate()
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["activated", "pickerDidPresent", "invalidated", "picker: invalidated"])
        await #expect(throws: ASError.self) { try await app.session.showPicker(for: [BeltApp.item()]) }
        await #expect(throws: ASError.self) { try await app.session.showPicker() }
        let other = world.launch("other")
        other.showPicker()
        world.world.run(for: .seconds(1))
        #expect(other.take() == ["activated", "pickerDidPresent"])
    }
}
