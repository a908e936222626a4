import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService

/// The state of an app's managers that outlives its process, as the service sees it.
@Suite struct PreservationTests {
    private func restored(_ events: [Event]) -> RestoredCentral? {
        events.lazy.compactMap { if case .central(.willRestore(let state)) = $0 { state } else { nil } }.first
    }

    @Test(
        "behaviours 10.3, 10.9: a manager is restored with its scan, its peripherals, and everything discovered on them"
    )
    func aManagerFindsAllThatItHad() throws {
        let apps = LivingApps(central: .central, restores: true)
        let handles = try apps.connect()
        let note = try #require(handles[Example.note])
        let location = try #require(handles[Example.location])
        let request = Request.readCharacteristic(peer: apps.peer, characteristic: location)
        _ = try apps.central.ask(request, "value", \.value)
        apps.central.send(.discoverDescriptors(peer: apps.peer, characteristic: location))
        let stranger = UUID.blank
        apps.central.send(.connect(peer: stranger, options: ConnectOptions()))
        let scan = ScanRequest(services: [0x180F], allowsDuplicates: true)
        apps.central.send(.startScan(scan))
        apps.world.run(.seconds(1))
        apps.centralApp.happened(.ended(.crashed))
        apps.launchCentral()
        apps.world.run(.seconds(1))
        let events = apps.central.take()
        let state = try #require(restored(events))
        #expect(
            state.scan == scan && events.first.flatMap { restored([$0]) } != nil
                && events[1] == .stateChanged(.poweredOn)
        )
        let peer = try #require(state.peers.first)
        #expect(state.peers.count == 1)
        #expect(peer.info.identifier == apps.peer)
        #expect(peer.maximumWriteWithoutResponse == 182)
        #expect(peer.services.map(\.service.uuid) == [Example.service])
        let characteristics = try #require(peer.services.first?.characteristics)
        #expect(Set(characteristics.map(\.characteristic.handle)) == Set(handles.values))
        let found = try #require(characteristics.first { $0.characteristic.handle == location })
        #expect(found.characteristic.value == [1])
        #expect(found.descriptors.map(\.uuid) == [0x2901])
        #expect(!found.isNotifying)
        // It continues from there without another discovery.
        let command = Request.writeCharacteristic(peer: apps.peer, characteristic: note, value: [9])
        apps.central.send(command)
        #expect(try apps.sensor.expect("write", \.writeRequest).writes.first?.value == [9])
    }

    @Test("behaviours 10.3, 10.7: responses to requests of an ended process are dropped")
    func responsesToAnEndedProcessAreDropped() throws {
        let apps = LivingApps(central: .central, restores: true)
        let handles = try apps.connect()
        let (note, location) = (try #require(handles[Example.note]), try #require(handles[Example.location]))
        apps.central.send(.readCharacteristic(peer: apps.peer, characteristic: note))
        apps.central.send(.readCharacteristic(peer: apps.peer, characteristic: location))
        apps.central.send(.watchConnections(ConnectionWatch(peers: [apps.peer])))
        let transaction = try apps.sensor.expect("read", \.readRequest).transaction
        apps.centralApp.happened(.ended(.crashed))
        apps.launchCentral()
        apps.world.run(.zero)
        apps.central.take()
        apps.sensor.send(.respond(transaction: transaction, status: .success, value: [3]))
        apps.world.run(.seconds(1))
        #expect(apps.central.take().isEmpty)
        apps.strap.controller.loseLinks(.connectionTimeout)
        apps.world.run(.seconds(1))
        let events = apps.central.take()
        #expect(events.count == 1)
        #expect(events.first?.disconnection != nil)
    }

    @Test(
        "behaviours 5.14, 10.3: a new process has all write credits, and writes queued by the old one do not count"
    )
    func aNewProcessHasAllTheRoom() throws {
        let apps = LivingApps(central: .central, restores: true)
        let note = try #require(try apps.connect()[Example.controlPoint])
        func write() {
            apps.central.send(.writeWithoutResponse(peer: apps.peer, characteristic: note, value: [1]))
        }
        for _ in 0..<ServiceLimits.writesWithoutResponse { write() }
        apps.centralApp.happened(.ended(.crashed))
        apps.launchCentral()
        apps.world.run(.zero)
        apps.central.take()
        for _ in 0..<ServiceLimits.writesWithoutResponse { write() }
        apps.world.run(.seconds(2))
        let room = apps.central.take().compactMap(\.writeCredits).reduce(0, +)
        #expect(room == ServiceLimits.writesWithoutResponse)
    }

    @Test("behaviour 10.4: a central's requests to an ended process go to the next one, in the same order")
    func centralsRequestsGoToTheNextProcessInOrder() throws {
        let apps = LivingApps(sensor: .peripheral, restores: true)
        let note = try #require(try apps.connect()[Example.note])
        apps.central.send(.readCharacteristic(peer: apps.peer, characteristic: note))
        _ = try apps.sensor.expect("read", \.readRequest)
        apps.sensorApp.happened(.ended(.crashed))
        apps.world.run(.seconds(5))
        apps.launchSensor()
        let request = try apps.sensor.expect("read", \.readRequest)
        apps.sensor.send(.respond(transaction: request.transaction, status: .success, value: [8]))
        #expect(try apps.central.expect("value", \.value) == .success([8]))
    }

    @Test("behaviours 10.4, 10.6: several events cause one launch, which tells the app which managers to create")
    func oneLaunchForAllThatHappens() throws {
        let apps = LivingApps(central: .central, restores: true)
        try apps.subscribe()
        _ = apps.phone.manager(.peripheral, of: apps.centralApp, restoring: "other")
        let launcher = LaunchLog()
        launcher.serve(apps.phone.system)
        apps.centralApp.happened(.ended(.removedFromMemory))
        apps.world.run(.seconds(60))
        #expect(launcher.launches.isEmpty)
        for value in 1..<4 { apps.measure([UInt8(value)]) }
        #expect(launcher.launches.map(\.app) == ["com.example.Collector"])
        #expect(
            launcher.launches.first?.managers == RestoreIdentifiers(centrals: ["collector"], peripherals: ["other"])
        )
        apps.launchCentral()
        apps.world.run(.zero)
        #expect(apps.central.take().compactMap(\.value) == [.success([1]), .success([2]), .success([3])])
        // The other manager was not created: its state is discarded, and nothing launches the app any more.
        apps.world.run(.seconds(20))
        #expect(apps.phone.system.apps.preservation.apps.isEmpty)
        #expect(launcher.launches.count == 1)
    }

    @Test("behaviour 10.6: an app that is running without its managers is not launched")
    func anAppThatRunsIsNotLaunched() throws {
        let apps = LivingApps(central: .central, restores: true)
        try apps.subscribe()
        let launcher = LaunchLog()
        launcher.serve(apps.phone.system)
        apps.centralApp.happened(.ended(.crashed))
        let opened = apps.phone.app("Collector", .central)
        apps.measure([1])
        #expect(launcher.launches.isEmpty)
        let manager = apps.phone.manager(.central, of: opened, restoring: "collector")
        apps.world.run(.zero)
        #expect(manager.take().compactMap(\.value) == [.success([1])])
    }

    @Test("behaviours 1.9, 1.10, 10.7: radio state changes meanwhile are reported in their place")
    func radioChangesAreReportedInOrder() throws {
        let apps = LivingApps(central: .central, restores: true)
        try apps.subscribe()
        apps.centralApp.happened(.ended(.crashed))
        apps.measure([1])
        apps.phone.system.controllers.setPower(false, by: .controlCentre)
        apps.world.run(.seconds(1))
        #expect(apps.phone.system.links.all.isEmpty)
        apps.launchCentral()
        apps.world.run(.zero)
        let events = apps.central.take()
        #expect(restored(events)?.peers.first?.maximumWriteWithoutResponse != nil)
        #expect(events[1] == .stateChanged(.poweredOn) && events[2].value == .success([1]))
        #expect(events.dropFirst(3) == [.stateChanged(.poweredOff)])
        apps.phone.system.controllers.setPower(true, by: .controlCentre)
        apps.world.run(.seconds(1))
        #expect(apps.central.take() == [.stateChanged(.poweredOn)])
    }

    @Test("behaviour 10.1: of two managers with one identifier, the older one is restored first, per role")
    func twoWithOneIdentifier() throws {
        let apps = LivingApps(central: .central, restores: true)
        let second = apps.phone.manager(.central, of: apps.centralApp, restoring: "collector")
        apps.central.send(.startScan(ScanRequest(services: [0x1801])))
        second.send(.startScan(ScanRequest(services: [0x1802])))
        apps.world.run(.zero)
        apps.centralApp.happened(.ended(.crashed))
        let peripheral = apps.phone.manager(.peripheral, of: apps.phone.app("Collector"), restoring: "collector")
        apps.launchCentral()
        let later = apps.phone.manager(.central, of: apps.centralApp, restoring: "collector")
        apps.world.run(.zero)
        #expect(peripheral.take() == [.stateChanged(.poweredOn)])
        #expect(restored(apps.central.take())?.scan?.services == [0x1801])
        #expect(restored(later.take())?.scan?.services == [0x1802])
    }

    @Test("AB-G05: the preserved apps are bounded, and the last ones in the foreground stay")
    func aBoundedNumberIsKept() {
        let apps = LivingApps()
        let phone = apps.phone
        let names = (0...Preservation.maximumApps).map { "App\($0)" }
        for name in names {
            let app = phone.app(name)
            _ = phone.manager(.central, of: app, restoring: "one")
            app.happened(.ended(.crashed))
        }
        let kept = phone.system.apps.preservation.apps.keys.map(\.name)
        #expect(Set(kept) == Set(names.dropFirst().map { "com.example.\($0)" }))
        #expect(phone.system.centrals.count == Preservation.maximumApps + 1)
    }

    @Test("AB-G05: a user with two preserved apps among users with one makes room for the second by losing the first")
    func ownAppsMakeRoom() {
        let phone = LivingApps().phone
        func preserve(_ name: String, of owner: UInt32) {
            let declaration = AppDeclaration(displayName: name, backgroundModes: .central)
            let app = phone.system.openApp(AppIdentity(name: name, owner: owner), declaring: declaration)
            _ = phone.manager(.central, of: app, restoring: "one")
            app.happened(.ended(.crashed))
        }
        let others = 1..<UInt32(Preservation.maximumApps)
        for owner in others { preserve("app", of: owner) }
        preserve("first", of: 0)
        preserve("second", of: 0)
        let kept = phone.system.apps.preservation.apps.keys
        #expect(Set(kept.filter { $0.owner != 0 }.map(\.owner)) == Set(others))
        #expect(kept.filter { $0.owner == 0 }.map(\.name) == ["second"])
    }

    @Test("AB-G05, behaviour 10.4: values that arrive without a process are bounded, and the latest are delivered")
    func valuesThatComeMeanwhileAreBounded() throws {
        let apps = LivingApps(restores: true)
        try apps.subscribe()
        apps.centralApp.happened(.ended(.crashed))
        for value in 0..<300 { apps.measure([UInt8(value % 256), UInt8(value / 256)]) }
        apps.launchCentral()
        apps.world.run(.zero)
        let values = apps.central.take().compactMap(\.value)
        #expect(values.count == EventMailbox.capacity)
        #expect(values.last == .success([43, 1]))
    }

    @Test(
        "behaviours 7.24, 10.12, 10.15: an app's advertising is restored even if the radio was gone meanwhile, and continues in the foreground",
        arguments: [AppDeclaration.BackgroundModes(), .peripheral]
    )
    func advertisingIsRestored(modes: AppDeclaration.BackgroundModes) throws {
        let apps = LivingApps(sensor: modes, restores: true)
        try apps.sensor.publish()
        apps.sensorApp.happened(.ended(.crashed))
        apps.takeTheRadio()
        apps.world.run(.seconds(1))
        #expect(apps.strap.controller.isAdvertising == (modes == .peripheral))
        // No app requested this start, so its failure is not reported to the app.
        apps.takeTheRadio()
        apps.launchSensor()
        apps.world.run(.seconds(1))
        let events = apps.sensor.take()
        guard case .peripheral(.willRestore(let state)) = events.first else { return recordIssue("\(events)") }
        #expect(state.advertising?.localName == "Strap")
        #expect(state.services == [Example.heartRate])
        #expect(events.dropFirst() == [.stateChanged(.poweredOn)])
        #expect(apps.strap.controller.isAdvertising)
    }

    @Test("behaviour 7.24: an app that returns after a radio failure gets no event for a start it did not request")
    func unrequestedStartsAreNotReported() throws {
        let apps = LivingApps(restores: true)
        try apps.sensor.publish()
        apps.sensorApp.happened(.ended(.crashed))
        apps.takeTheRadio()
        apps.strap.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Sensor"))
        apps.launchSensor()
        apps.world.run(.seconds(1))
        let events = apps.sensor.take()
        #expect(events.dropFirst() == [.stateChanged(.unauthorized)], "\(events)")
    }
}

extension LivingApps {
    /// Denies the strap's app the radio for an instant, which removes its services (behaviour 1.13).
    fileprivate func takeTheRadio() {
        strap.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Sensor"))
        strap.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "com.example.Sensor"))
    }
}
