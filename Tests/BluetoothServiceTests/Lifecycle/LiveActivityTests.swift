import ATT
import BluetoothTypes
import EventLoops
import GAP
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// The privileges of apps with a Live Activity.
@Suite struct LiveActivityTests {
    /// Scans for everything, with duplicates, for a second.
    private func sightings(_ apps: LivingApps) -> Int {
        apps.central.take()
        apps.world.run(.seconds(1))
        return apps.central.take().count { $0.discovery != nil }
    }

    private func scanningApps(
        _ modes: AppDeclaration.BackgroundModes = .central,
        version: SystemVersion = 26
    ) throws -> LivingApps {
        let apps = LivingApps(central: modes, sensor: modes) { $0.version = version }
        try apps.sensor.publish()
        apps.central.send(.startScan(ScanRequest(services: nil, allowsDuplicates: true)))
        return apps
    }

    @Test(
        "behaviours 2.27, 9.8, 9.17: from iOS 26 on, an app with a Live Activity scans for everything in the background",
        arguments: [25, 26],
        [false, true]
    )
    func scansInTheBackground(version: Int, hasActivity: Bool) throws {
        let apps = try scanningApps(version: SystemVersion(integerLiteral: version))
        if hasActivity { apps.centralApp.happened(.liveActivity(true)) }
        apps.centralApp.happened(.left)
        let isPrivileged = version >= 26 && hasActivity
        #expect((sightings(apps) > 5) == isPrivileged)
        #expect(apps.phone.controller.isScanning == isPrivileged)
        if isPrivileged { #expect(apps.phone.controller.scanParameters?.scanWindow == ScanSettings.attentive.window) }
        apps.centralApp.happened(.liveActivity(false))
        #expect(sightings(apps) == 0)
        #expect(!apps.phone.controller.isScanning)
        apps.centralApp.happened(.entered)
        #expect(sightings(apps) > 5)
    }

    @Test("behaviour 9.17: a Live Activity does not replace the background mode of an app that is suspended")
    func aSuspendedAppNeedsTheMode() throws {
        for modes in [AppDeclaration.BackgroundModes.central, []] {
            let apps = try scanningApps(modes)
            apps.centralApp.happened(.liveActivity(true))
            apps.centralApp.happened(.left)
            apps.world.run(.seconds(40))
            let isScanning = modes.contains(.central)
            // Each sighting wakes the app and renews its time.
            #expect(apps.centralApp.phase == (isScanning ? .background : .suspended))
            #expect((sightings(apps) > 5) == isScanning)
        }
    }

    @Test("behaviour 9.17: an app that has no manager when it leaves the foreground gets no privileges")
    func privilegesNeedAManager() throws {
        let apps = try scanningApps()
        for (opens, closes) in [(false, false), (true, true), (true, false)] {
            let app = apps.phone.app("Late \(opens) \(closes)", .central)
            // What ActivityKit has open is no manager of Bluetooth.
            _ = apps.phone.manager(.activities, of: app)
            app.happened(.liveActivity(true))
            let first = opens ? apps.phone.manager(.central, of: app) : nil
            if closes { first?.close() }
            app.happened(.left)
            let manager = if !closes, let first { first } else { apps.phone.manager(.central, of: app) }
            manager.send(.startScan(ScanRequest(services: nil)))
            apps.world.run(.seconds(1))
            #expect(manager.take().contains { $0.discovery != nil } == (opens && !closes))
        }
    }

    @Test("behaviours 7.24, 9.17: an app with a Live Activity advertises its name and services in the background")
    func advertisesInTheBackground() throws {
        let apps = LivingApps(sensor: [])
        try apps.sensor.publish()
        let before = apps.strap.controller.advertisement
        apps.sensorApp.happened(.liveActivity(true))
        apps.sensorApp.happened(.left)
        apps.world.run(.seconds(1))
        #expect(apps.strap.controller.isAdvertising)
        #expect(apps.strap.controller.advertisement == before)
        #expect(apps.strap.controller.interval < .milliseconds(200))
        // Without the mode, nothing is advertised for a suspended app.
        apps.world.run(.seconds(30))
        #expect(apps.sensorApp.phase == .suspended)
        #expect(!apps.strap.controller.isAdvertising)
    }

    @Test("behaviours 7.13, 9.17: an app with a Live Activity serves until it is suspended, even without the mode")
    func servesInTheBackground() throws {
        let apps = LivingApps(sensor: [])
        let note = try #require(try apps.connect()[Example.note])
        apps.sensorApp.happened(.liveActivity(true))
        apps.sensorApp.happened(.left)
        let read = Request.readCharacteristic(peer: apps.peer, characteristic: note)
        apps.central.send(read)
        let request = try apps.sensor.expect("read", \.readRequest)
        apps.sensor.send(.respond(transaction: request.transaction, status: .success, value: [7]))
        #expect(try apps.central.expect("value", \.value) == .success([7]))
        apps.world.run(AppLifecycle.grace)
        apps.central.send(read)
        #expect(try apps.central.expect("value", \.value).error?.code == .att(ATTStatus(rawValue: 0x0E)))
        #expect(apps.sensorApp.phase == .suspended)
    }

    @Test("behaviour 9.18: a Live Activity starts in the foreground alone, and ends after eight hours")
    func anActivityEndsByItself() throws {
        let apps = try scanningApps()
        apps.centralApp.happened(.left)
        apps.centralApp.happened(.liveActivity(true))
        #expect(!apps.centralApp.hasActivity)
        apps.centralApp.happened(.entered)
        apps.centralApp.happened(.liveActivity(true))
        apps.world.run(.seconds(3_600))
        // Another activity has its own eight hours.
        apps.centralApp.happened(.liveActivity(true))
        apps.centralApp.happened(.left)
        apps.central.send(.stopScan)
        apps.world.run(.seconds(8 * 3_600 - 1))
        #expect(apps.centralApp.hasActivity)
        apps.world.run(.seconds(1))
        #expect(!apps.centralApp.hasActivity)
    }

    @Test("behaviour 9.17: the activity of a process ends with it, and what is preserved has no privileges")
    func theNextProcessStartsWithout() throws {
        let apps = LivingApps(central: .central, restores: true)
        try apps.sensor.publish()
        apps.central.send(.startScan(ScanRequest(services: nil)))
        apps.centralApp.happened(.liveActivity(true))
        apps.centralApp.happened(.left)
        apps.world.run(.seconds(1))
        #expect(apps.phone.controller.isScanning)
        apps.centralApp.happened(.ended(.crashed))
        apps.world.run(.seconds(1))
        #expect(!apps.centralApp.hasActivity)
        #expect(!apps.phone.controller.isScanning)
    }
}
