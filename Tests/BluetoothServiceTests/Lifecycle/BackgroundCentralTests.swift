import BluetoothTypes
import Foundation
import GAP
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// Apps in the central role that are in the background.
@Suite struct BackgroundCentralTests {
    @Test(
        "behaviours 9.1, 9.3, 9.4: an app without a background mode is suspended after 30 s; its link stays, and events queue in order"
    )
    func anAppWithoutAModeSleeps() throws {
        let apps = LivingApps()
        try apps.subscribe()
        apps.centralApp.happened(.left)
        apps.world.run(.seconds(29))
        apps.measure([1])
        #expect(apps.central.take().compactMap(\.value) == [.success([1])])
        apps.world.run(.seconds(1))
        #expect(apps.centralApp.phase == .suspended)
        for value in 2..<6 { apps.measure([UInt8(value)]) }
        apps.world.run(.seconds(3_600))
        #expect(apps.central.take().isEmpty)
        #expect(apps.centralApp.phase == .suspended)
        #expect(apps.phone.system.links.all.count == 1)
        apps.centralApp.happened(.entered)
        apps.world.run(.zero)
        #expect(apps.central.take().compactMap(\.value) == (2..<6).map { .success([UInt8($0)]) })
    }

    @Test("behaviour 9.3: a disconnection is reported when the app is back, after earlier events")
    func theEndOfALinkWaits() throws {
        let apps = LivingApps()
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        apps.measure([1])
        apps.strap.controller.loseLinks(.connectionTimeout)
        apps.world.run(.seconds(1))
        #expect(apps.central.take().isEmpty)
        apps.centralApp.happened(.entered)
        apps.world.run(.zero)
        let events = apps.central.take()
        #expect(events.first?.value == .success([1]))
        #expect(events.last?.disconnection != nil)
        #expect(events.count == 2)
    }

    @Test("behaviours 9.5, 9.7, 14.19: with bluetooth-central a value wakes the app for ten seconds")
    func aValueWakesTheApp() throws {
        let apps = LivingApps(central: .central)
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        apps.measure([1])
        #expect(apps.central.take().compactMap(\.value) == [.success([1])])
        #expect(apps.centralApp.phase == .background)
        apps.world.run(.seconds(9))
        #expect(apps.centralApp.phase == .background)
        apps.world.run(.seconds(1))
        #expect(apps.centralApp.phase == .suspended)
    }

    @Test(
        "behaviour 9.7: events for an app that overran three times wait for a minute, and the status shows why"
    )
    func anAppThatIsSlowedDown() throws {
        let apps = LivingApps(central: .central)
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        for value in UInt8(1)...3 {
            #expect(apps.phone.system.status.apps.first?.isSlowedDown == nil)
            apps.measure([value])
            #expect(apps.centralApp.phase == .background)
            apps.centralApp.happened(.asksForTime(true))
            apps.world.run(.seconds(180))
            #expect(apps.centralApp.phase == .suspended)
        }
        let status = try #require(apps.phone.system.status.apps.first)
        #expect(status.isSlowedDown == true)
        #expect(status.lines.first?.contains("woken less often") == true)
        apps.central.take()
        apps.measure([4])
        apps.world.run(.seconds(50))
        #expect(apps.central.take().isEmpty)
        #expect(apps.centralApp.phase == .suspended)
        apps.world.run(.seconds(10))
        #expect(apps.central.take().compactMap(\.value) == [.success([4])])
        #expect(apps.centralApp.phase == .background)
    }

    @Test("behaviour 9.7: continuous events keep the app awake")
    func continuousEventsKeepTheAppAwake() throws {
        let apps = LivingApps(central: .central)
        try apps.subscribe()
        apps.centralApp.fallAsleep(in: apps.world)
        for _ in 0..<12 {
            apps.measure([1])
            apps.world.run(.seconds(9))
            #expect(apps.centralApp.phase == .background)
        }
        apps.world.run(.seconds(10))
        #expect(apps.centralApp.phase == .suspended)
    }

    @Test(
        "behaviours 5.13, 9.5, 9.7: returned write credits wake an app that had none, and keep it awake while it writes"
    )
    func roomForWritesKeepsTheAppAwake() throws {
        let apps = LivingApps(central: .central)
        try apps.subscribe()
        let handle = try #require(try apps.central.explore(apps.peer)[Example.controlPoint])
        apps.centralApp.fallAsleep(in: apps.world)
        apps.measure([1])
        var (room, sent) = (ServiceLimits.writesWithoutResponse, 0)
        for _ in 0..<120 {
            while room > 0 {
                apps.central.send(.writeWithoutResponse(peer: apps.peer, characteristic: handle, value: [7]))
                (room, sent) = (room - 1, sent + 1)
            }
            apps.world.run(.milliseconds(500))
            room += apps.central.take().compactMap(\.writeCredits).reduce(0, +)
        }
        #expect(apps.centralApp.phase == .background)
        #expect(sent == 121 * ServiceLimits.writesWithoutResponse - room)
        // An app with credits left gets no callback, and is suspended.
        apps.world.run(.seconds(5))
        apps.central.send(.writeWithoutResponse(peer: apps.peer, characteristic: handle, value: [7]))
        apps.world.run(.seconds(5))
        #expect(apps.centralApp.phase == .suspended)
    }

    @Test(
        "behaviours 5.13, 9.5: returned credits wake an app suspended without any, and no app that had some",
        arguments: [0, 1]
    )
    func roomWakesWhoHadNone(left: Int) throws {
        let apps = LivingApps(central: .central)
        try apps.subscribe()
        let handle = try #require(try apps.central.explore(apps.peer)[Example.controlPoint])
        var room = ServiceLimits.writesWithoutResponse
        for _ in 0..<1_000 where room > left {
            apps.central.send(.writeWithoutResponse(peer: apps.peer, characteristic: handle, value: [7]))
            apps.world.run(.zero)
            room += apps.central.take().compactMap(\.writeCredits).reduce(0, +) - 1
        }
        #expect(room == left)
        apps.centralApp.happened(.left)
        apps.centralApp.happened(.timeIsUp)
        #expect(apps.centralApp.phase == .suspended)
        apps.world.run(.seconds(2))
        #expect(apps.centralApp.phase == (left == 0 ? .background : .suspended))
    }

    @Test("behaviour 9.5: a connection, its end and the radio's state wake the app")
    func connectionsAndStatesWakeTheApp() throws {
        let apps = LivingApps(central: .central)
        _ = try apps.connect()
        apps.centralApp.fallAsleep(in: apps.world)
        apps.strap.controller.loseLinks(.connectionTimeout)
        apps.world.run(.milliseconds(100))
        #expect(apps.central.take().contains { $0.disconnection != nil })
        #expect(apps.centralApp.phase == .background)
        apps.central.send(.connect(peer: apps.peer, options: ConnectOptions()))
        apps.strap.controller.isInRange = false
        apps.world.run(.seconds(60))
        #expect(apps.centralApp.phase == .suspended)
        apps.strap.controller.isInRange = true
        apps.world.run(.seconds(1))
        #expect(apps.central.take().contains { $0.connection != nil })
        #expect(apps.centralApp.phase == .background)
        apps.world.run(.seconds(60))
        apps.phone.system.controllers.setPower(false)
        apps.world.run(.milliseconds(1))
        #expect(apps.central.take() == [.stateChanged(.poweredOff)])
        #expect(apps.centralApp.phase == .background)
    }

    @Test("AB-G05: requests of a suspended app wait until it runs")
    func requestsOfSuspendedAppsWait() throws {
        let apps = LivingApps()
        let handle = try #require(try apps.connect()[Example.location])
        apps.centralApp.fallAsleep(in: apps.world)
        apps.central.send(.readCharacteristic(peer: apps.peer, characteristic: handle))
        apps.world.run(.seconds(5))
        apps.centralApp.happened(.entered)
        apps.world.run(.zero)
        #expect(apps.central.take().isEmpty)
        #expect(try apps.central.expect("value", \.value) == .success([1]))
    }

    // MARK: Scanning

    private func sightings(_ manager: TestManager) -> Int { manager.take().count { $0.discovery != nil } }

    @Test(
        "behaviours 2.27, 9.8: a scan in the background that names no services finds nothing",
        arguments: [false, true]
    )
    func aScanThatNamesNoServicesHearsNothing(namesServices: Bool) throws {
        let apps = LivingApps(central: .central)
        apps.centralApp.happened(.left)
        let services: [BluetoothUUID]? = namesServices ? [Example.service] : nil
        apps.central.send(.startScan(ScanRequest(services: services)))
        try apps.sensor.publish()
        apps.world.run(.seconds(1))
        #expect((sightings(apps.central) > 0) == namesServices)
        #expect(apps.phone.controller.isScanning == namesServices)
        apps.centralApp.happened(.entered)
        apps.world.run(.seconds(1))
        #expect((sightings(apps.central) > 0) != namesServices)
    }

    @Test(
        "behaviours 9.3, 9.5, 9.8: a suspended app scans only with the background mode, and is woken",
        arguments: [false, true]
    )
    func asleepAnAppScansWithTheModeAlone(hasMode: Bool) throws {
        let apps = LivingApps(central: hasMode ? .central : [])
        apps.central.send(.startScan(ScanRequest(services: [Example.service])))
        apps.centralApp.fallAsleep(in: apps.world)
        #expect(apps.phone.controller.isScanning == hasMode)
        try apps.sensor.publish()
        apps.world.run(.seconds(5))
        #expect(apps.centralApp.phase == (hasMode ? .background : .suspended))
        #expect((sightings(apps.central) > 0) == hasMode)
        apps.centralApp.happened(.entered)
        apps.world.run(.seconds(5))
        #expect(apps.phone.controller.isScanning)
        #expect((sightings(apps.central) > 0) != hasMode)
    }

    @Test(
        "behaviours 2.3, 2.27, 9.8, 9.9: duplicates are reported only in the foreground, and discoveries are not reported again in the background"
    )
    func duplicatesAreForTheForeground() throws {
        let apps = LivingApps(central: .central)
        try apps.sensor.publish()
        apps.central.send(.startScan(ScanRequest(services: [Example.service], allowsDuplicates: true)))
        apps.world.run(.seconds(1))
        #expect(sightings(apps.central) > 5)
        apps.centralApp.happened(.left)
        apps.world.run(.seconds(20))
        #expect(sightings(apps.central) == 0)
        apps.centralApp.happened(.entered)
        apps.world.run(.seconds(1))
        #expect(sightings(apps.central) > 5)
    }

    @Test("behaviour 2.17: in the background, restarting a scan reports nothing again; a connection and its end do")
    func inTheBackgroundStopAndStartTellNothingAnew() throws {
        let apps = LivingApps(central: .central)
        _ = try apps.connect()
        apps.central.send(.cancelConnection(peer: apps.peer))
        apps.world.run(.seconds(1))
        let scan = Request.startScan(ScanRequest(services: [Example.service]))
        func scanAnew() -> Int {
            apps.central.send(.stopScan)
            apps.central.take()
            apps.central.send(scan)
            apps.world.run(.seconds(1))
            return sightings(apps.central)
        }
        #expect(scanAnew() > 0)
        apps.centralApp.happened(.left)
        #expect(scanAnew() == 0)
        #expect(scanAnew() == 0)
        try apps.central.connect(apps.peer)
        apps.central.send(.cancelConnection(peer: apps.peer))
        #expect(scanAnew() > 0)
        // The same while no scan is active.
        apps.central.send(.stopScan)
        try apps.central.connect(apps.peer)
        apps.central.send(.cancelConnection(peer: apps.peer))
        #expect(scanAnew() > 0)
        apps.centralApp.happened(.entered)
        #expect(scanAnew() > 0)
        #expect(scanAnew() > 0)
    }

    @Test("behaviour 9.8: the radio scans less when all scanning apps are in the background")
    func inTheBackgroundTheRadioListensLess() {
        let apps = LivingApps(central: .central)
        let other = apps.phone.app("Other")
        let second = apps.phone.manager(.central, of: other)
        let request = Request.startScan(ScanRequest(services: [Example.service]))
        for manager in [apps.central, second] { manager.send(request) }
        func window() -> UInt16? {
            apps.world.run(.seconds(1))
            return apps.phone.controller.scanParameters?.scanWindow
        }
        #expect(window() == ScanSettings.attentive.window)
        apps.centralApp.happened(.left)
        #expect(window() == ScanSettings.attentive.window)
        other.happened(.left)
        #expect(window() == ScanSettings.background.window)
        #expect(apps.phone.controller.scanParameters?.scanInterval == ScanSettings.background.interval)
        other.happened(.entered)
        #expect(window() == ScanSettings.attentive.window)
    }

    // MARK: The user

    private func alerts(_ device: TestDevice, during body: () throws -> Void) rethrows -> [SystemNotice] {
        final class Seen { var notices: [SystemNotice] = [] }
        let seen = Seen()
        device.system.observers.add(.notices) {
            if case .noticed(let notice) = $0.content { seen.notices.append(notice) }
        }
        try body()
        return seen.notices
    }

    private static let all: ConnectOptions = {
        var options = ConnectOptions()
        (options.notifiesOnConnection, options.notifiesOnDisconnection, options.notifiesOnNotification) = (
            true, true, true
        )
        options.reconnectsAutomatically = true
        return options
    }()

    @Test("behaviour 3.15: the user is alerted in place of a suspended app, for each notification too")
    func inPlaceOfAnAppThePersonIsTold() throws {
        let apps = LivingApps()
        try apps.subscribe(Self.all)
        let seen = alerts(apps.phone) {
            apps.measure([0])
            apps.centralApp.fallAsleep(in: apps.world)
            apps.measure([1])
            apps.measure([2])
            apps.strap.controller.loseLinks(.connectionTimeout)
            apps.world.run(.seconds(5))
        }
        let name = "\"Strap\""
        let expected: [AppAlert] = [.notified, .notified, .disconnected, .connected]
        #expect(seen == expected.map { .alert(app: "Collector", peer: name, $0) })
        #expect("\(seen[0])" == "\"Collector\": \"Strap\" has something new; open the app to see it")
    }

    @Test(
        "behaviour 3.15: an app without alert options or with bluetooth-central is woken, or waits, without an alert",
        arguments: [false, true]
    )
    func alertsRequireAlertOptions(hasMode: Bool) throws {
        let apps = LivingApps(central: hasMode ? .central : [])
        try apps.subscribe(hasMode ? Self.all : ConnectOptions())
        let seen = alerts(apps.phone) {
            apps.centralApp.fallAsleep(in: apps.world)
            apps.measure([1])
            apps.strap.controller.loseLinks(.connectionTimeout)
            apps.world.run(.seconds(5))
        }
        #expect(seen.isEmpty)
    }

    @Test("behaviour 3.15: of several apps, the alert names the one last in the foreground", arguments: [0, 1])
    func theLastInFrontIsToldOf(last: Int) throws {
        let apps = LivingApps()
        try apps.subscribe(Self.all)
        let other = apps.phone.app("Other")
        let second = apps.phone.manager(.central, of: other)
        try second.ask(.connect(peer: apps.peer, options: Self.all), "connected") { $0.connection.map { _ in } }
        let seen = alerts(apps.phone) {
            let both = [apps.centralApp, other]
            for app in [both[1 - last], both[last]] { app.happened(.entered) }
            for app in both { app.happened(.left) }
            both[1 - last].happened(.entered)
            both[last].happened(.entered)
            for app in both { app.fallAsleep(in: apps.world) }
            apps.strap.controller.loseLinks(.connectionTimeout)
            apps.world.run(.milliseconds(10))
        }
        #expect(seen == [.alert(app: ["Collector", "Other"][last], peer: "\"Strap\"", .disconnected)])
    }

    // MARK: Termination

    @Test(
        "behaviour 9.14: the end of a process ends its connections and its scan, and drops its pending events",
        arguments: [AppEnd.crashed, .removedFromMemory, .forceQuit]
    )
    func withTheProcessAllIsGone(end: AppEnd) throws {
        let apps = LivingApps()
        try apps.subscribe()
        apps.central.send(.startScan(ScanRequest()))
        apps.world.run(.seconds(1))
        apps.centralApp.happened(.ended(end))
        apps.world.run(.seconds(1))
        apps.central.take()
        #expect(apps.phone.system.links.all.isEmpty)
        #expect(!apps.phone.controller.isScanning)
        #expect(apps.centralApp.phase == .notRunning(end))
        apps.central.send(.startScan(ScanRequest()))
        apps.measure([1])
        apps.centralApp.happened(.entered)
        apps.world.run(.seconds(1))
        #expect(apps.central.take().isEmpty)
        #expect(!apps.phone.controller.isScanning)
    }

    @Test func anAppThatNobodyManagesIsAlwaysInFront() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        pair.central.connection.happened(.left)
        pair.world.run(.seconds(3_600))
        #expect(pair.central.connection.phase == .foreground)
        pair.central.connection.happened(.ended(.crashed))
        #expect(pair.central.connection.phase == .notRunning(.crashed))
    }
}
