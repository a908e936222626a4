import AccessorySetupKit
import BluetoothSimulation
import CoreBluetooth
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService

/// Views of AccessorySetupKit that are left or declined, and requests that are out of place.
@Suite struct SetupRuleTests {
    /// The person chooses the first belt, and answers other views with `answer`.
    private func choose(_ world: SetupWorld, then answer: @escaping @Sendable (AccessoryQuestion.Kind) -> PersonAnswer?)
    {
        world.phone.person.answersAboutAccessories { question in
            guard case .pick = question.kind else { return answer(question.kind) }
            return question.offers.first { $0.advertisedName == "Belt 1" }.map { .choose($0.identifier) }
        }
    }

    /// An item for a belt that the app knew before.
    private func migration(of peripheral: UUID) -> ASMigrationDisplayItem {
        let descriptor = BeltApp.item().descriptor
        let item = ASMigrationDisplayItem(name: "Old belt", productImage: UIImage(), descriptor: descriptor)
        item.peripheralIdentifier = peripheral
        return item
    }

    /// The identifier of the first belt, by which an app of before knows it.
    private func knownBelt(_ world: SetupWorld) throws -> UUID {
        let before = world.launch("before", central: true, AppDeclaration())
        world.world.run(for: .seconds(3))
        defer { before.process.removeFromMemory() }
        return try #require(before.found.first { $0.name == "Belt 1" }).identifier
    }

    // MARK: The picker

    @Test("behaviour 16.2: each item of a picker has to be declared, and the new descriptor of an accessory")
    func laterTraitsAreDeclared() throws {
        let world = SetupWorld()
        let app = world.launch()
        app.showPicker([BeltApp.item(), BeltApp.item([]) { $0.bluetoothServiceUUID = CBUUID(string: "180F") }])
        world.world.run(for: .seconds(1))
        #expect(app.process.phase == .notRunning(.crashed))
        let other = world.launch("other")
        let accessory = try #require(world.setUp(other))
        let descriptor = accessory.descriptor
        descriptor.bluetoothNameSubstring = "Bel"
        other.session.updateAuthorization(for: accessory, descriptor: descriptor, completionHandler: other.outcome("-"))
        world.world.run(for: .seconds(1))
        #expect(other.process.phase == .notRunning(.crashed))
    }

    @Test("behaviour 16.2: a program that is not managed gets an error in place of the crash")
    func programsDoNotCrash() {
        let world = SetupWorld([])
        var declaration = BeltApp.declaration
        declaration.isManaged = false
        let app = world.launch("program", declaration)
        app.showPicker([BeltApp.item([]) { $0.bluetoothServiceUUID = CBUUID(string: "180F") }])
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["activated", "picker: invalidRequest"])
        #expect(app.process.phase == .foreground)
    }

    @Test("behaviour 16.3: a picker that has found something waits for the user")
    func findsStopTheTimeout() {
        let world = SetupWorld()
        let app = world.launch()
        world.phone.person.answersAboutAccessories { _ in nil }
        app.showPicker()
        world.world.run(for: .seconds(60))
        #expect(app.take() == ["activated", "pickerDidPresent"])
        world.phone.person.answersAboutAccessories { _ in .refuse }
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["pickerDidDismiss", "picker: userCancelled"])
    }

    @Test("behaviours 16.3, 16.6: leaving the app ends each part of a setup; what awaits its authorization stays")
    func leavingEndsTheSetup() throws {
        let setups: [(ASPickerDisplayItem.SetupOptions, pairs: Bool, last: String)] = [
            (.rename, false, "pickerSetupRename"), ([], true, "pickerSetupPairing"),
            (.confirmAuthorization, false, "accessoryAdded Heart belt"),
        ]
        for (options, pairs, last) in setups {
            let world = SetupWorld(["Belt 1"])
            let app = world.launch()
            let belt = world.belts[0]
            world.phone.person.answersAboutAccessories { question in
                guard case .pick = question.kind, let offer = question.offers.first else { return nil }
                if pairs { belt.leaveRange() }
                return .choose(offer.identifier)
            }
            app.showPicker([BeltApp.item(options, pairs: pairs)])
            world.world.run(for: .seconds(5))
            #expect(app.take().last == last)
            app.process.leave()
            world.world.run(for: .seconds(1))
            #expect(app.take() == ["pickerDidDismiss", "picker: pickerRestricted"], "\(last)")
            let isAwaiting = options == .confirmAuthorization
            #expect(app.session.accessories.map(\.state) == (isAwaiting ? [.awaitingAuthorization] : []))
            app.process.enter()
            guard isAwaiting, let accessory = app.session.accessories.first else { continue }
            let settings = ASAccessorySettings.default
            app.session.finishAuthorization(for: accessory, settings: settings, completionHandler: app.outcome("end"))
            world.world.run(for: .seconds(1))
            #expect(app.take() == ["accessoryChanged Heart belt", "end: done"])
            #expect(app.session.accessories.map(\.state) == [.authorized])
        }
    }

    @Test("behaviour 16.5: the link of a setup ends after five seconds if the app does not use it")
    func theLinkOfASetupEnds() throws {
        let world = SetupWorld()
        _ = try #require(world.setUp(world.launch(), [BeltApp.item(pairs: true)]))
        world.world.run(for: .seconds(6))
        #expect(world.phone.withSystem { $0.links.all.count } == 0)
        #expect(world.paired == ["Belt 1"])
    }

    // MARK: Names

    @Test(
        "behaviours 16.5, 16.8: an accessory whose name the user does not change or leaves blank keeps that of the app"
    )
    func namesMayStay() {
        for answer in [PersonAnswer.refuse, .name(" ")] {
            let world = SetupWorld()
            let app = world.launch()
            choose(world) { _ in answer }
            app.showPicker([BeltApp.item(.rename)])
            world.world.run(for: .seconds(5))
            let end = ["pickerSetupRename", "accessoryAdded Heart belt", "pickerDidDismiss", "picker: done"]
            #expect(app.take().suffix(4) == end[...], "\(answer)")
        }
    }

    @Test("behaviour 16.8: a blank name is none, in the view of an app and in the settings")
    func blankNamesChangeNothing() throws {
        let world = SetupWorld()
        let app = world.launch()
        let accessory = try #require(world.setUp(app))
        world.choose("", renamingTo: " \n")
        app.session.renameAccessory(accessory, completionHandler: app.outcome("rename"))
        world.world.run(for: .seconds(1))
        #expect(!world.phone.person.renamesAccessory("Heart belt", to: "", ofApp: "belts"))
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["rename: userCancelled"])
        #expect(app.session.accessories.map(\.displayName) == ["Heart belt"])
    }

    // MARK: Sessions and removal

    @Test("behaviours 16.7, 16.8: each session of an app is notified, and knows its accessories from the beginning")
    func sessionsShareAccessories() throws {
        let world = SetupWorld()
        let app = world.launch()
        _ = try #require(world.setUp(app))
        let (second, events) = (ASAccessorySession(), Notes<String>())
        app.process.task {
            second.activate(on: DispatchQueue(label: "second")) { event in
                events.add("\(event.eventType) \(event.accessory?.displayName ?? "\(second.accessories.count)")")
            }
        }
        world.world.run(for: .seconds(1))
        world.phone.person.renamesAccessory("Heart belt", to: "My belt", ofApp: "belts")
        world.phone.person.removesAccessory("My belt", ofApp: "belts")
        world.world.run(for: .seconds(1))
        #expect(events.all == ["activated 1", "accessoryChanged My belt", "accessoryRemoved My belt"])
        #expect(app.take() == ["accessoryChanged My belt", "accessoryRemoved My belt"])
        withExtendedLifetime(second) {}
    }

    @Test("behaviour 16.7: an accessory that was removed is gone after a restart too, and takes no requests")
    func removalIsForGood() throws {
        let world = SetupWorld()
        let app = world.launch()
        let accessory = try #require(world.setUp(app))
        app.session.removeAccessory(accessory, completionHandler: app.outcome("removal"))
        world.world.run(for: .seconds(1))
        _ = app.take()
        app.session.removeAccessory(accessory, completionHandler: app.outcome("removal"))
        app.session.renameAccessory(accessory, completionHandler: app.outcome("rename"))
        let settings = ASAccessorySettings.default
        app.session.finishAuthorization(for: accessory, settings: settings, completionHandler: app.outcome("finish"))
        app.session.updateAuthorization(
            for: accessory,
            descriptor: accessory.descriptor,
            completionHandler: app.outcome("update")
        )
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["removal", "rename", "finish", "update"].map { "\($0): invalidRequest" })
        world.phone.restart()
        world.world.run(for: .seconds(2))
        let again = world.launch()
        #expect(again.take() == ["activated"])
        #expect(again.session.accessories.isEmpty)
    }

    // MARK: Migration and authorization

    @Test("behaviour 16.9: peripherals that are unknown, or set up already, are left out of a migration")
    func someMigrationsAreLeftOut() throws {
        let world = SetupWorld(permission: .allowedAlways)
        let known = try knownBelt(world)
        let app = world.launch()
        #expect(try #require(world.setUp(app)).bluetoothIdentifier == known)
        app.showPicker([migration(of: known), migration(of: UUID())])
        world.world.run(for: .seconds(5))
        #expect(app.take() == ["pickerDidPresent", "pickerDidDismiss", "picker: done"])
        #expect(world.phone.person.accessoryQuestions.last?.offers.isEmpty == true)
        #expect(app.session.accessories.map(\.displayName) == ["Heart belt"])
    }

    @Test("behaviour 16.9: a migration that the user declines adopts nothing")
    func migrationsAreDeclined() throws {
        let world = SetupWorld(permission: .allowedAlways)
        let known = try knownBelt(world)
        let app = world.launch()
        world.phone.person.answersAboutAccessories { _ in .refuse }
        app.showPicker([migration(of: known)])
        world.world.run(for: .seconds(5))
        #expect(app.take() == ["activated", "pickerDidPresent", "pickerDidDismiss", "picker: userCancelled"])
        #expect(app.session.accessories.isEmpty)
    }

    @Test("behaviour 16.10: an authorization that the user does not extend stays as it is")
    func authorizationsAreDeclined() throws {
        let world = SetupWorld()
        let app = world.launch()
        let accessory = try #require(world.setUp(app))
        choose(world) { _ in .refuse }
        let descriptor = accessory.descriptor
        descriptor.bluetoothNameSubstring = "Belt"
        app.session.updateAuthorization(
            for: accessory,
            descriptor: descriptor,
            completionHandler: app.outcome("update")
        )
        world.world.run(for: .seconds(1))
        #expect(app.take() == ["update: userCancelled"])
        #expect(app.session.accessories.first?.descriptor.bluetoothNameSubstring == nil)
    }
}
