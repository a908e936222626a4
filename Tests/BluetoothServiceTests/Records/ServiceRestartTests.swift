import BluetoothTypes
import EventLoops
import Foundation
import Security
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService

/// A system that continues from the records of its predecessor.
@Suite struct ServiceRestartTests {
    private static let scan = Request.central(.startScan(ScanRequest(services: [0x180D])))

    private func restored(_ events: [Event]) -> RestoredCentral? {
        if case .central(.willRestore(let state)) = events.first { state } else { nil }
    }

    @Test(
        "behaviours 10.7, 10.15: an app that creates its manager after a restart is restored with its scan, which continues"
    )
    func anAppFindsItsScan() {
        let bench = RecordBench()
        bench.open().manager.send(Self.scan)
        bench.world.run(.seconds(1))
        bench.restart()
        #expect(bench.phone.system.centrals.map(\.scans) == [true])
        let (_, manager) = bench.open()
        let events = manager.take()
        #expect(restored(events)?.scan?.services == [0x180D])
        #expect(events.dropFirst() == [.stateChanged(.poweredOn)])
        #expect(bench.phone.system.centrals.map(\.scans) == [true])
        #expect(bench.phone.system.apps.preservation.apps.isEmpty)
        // The scan survives another restart too.
        #expect(bench.recorded == [Self.scan])
        bench.restart()
        #expect(bench.phone.system.centrals.map(\.scans) == [true])
    }

    @Test(
        "behaviours 10.7, 10.11, 10.15: an app that starts before the radio is restored first, and its requests resume with the radio",
        arguments: [ManagerRole.central, .peripheral]
    )
    func anAppThatComesBeforeTheRadio(role: ManagerRole) throws {
        let bench = RecordBench()
        let (_, first) = bench.open("App", role)
        switch role {
        case .central: first.send(Self.scan)
        case .peripheral: try first.publish()
        case .accessorySetup, .activities: break
        }
        bench.world.run(.seconds(1))
        let recorded = try #require(bench.recorded)
        bench.restart(isStarted: false)
        let (app, manager) = bench.open("App", role)
        // The process dies again before the radio is on.
        app.happened(.ended(.crashed))
        #expect(manager.take().count == 1)
        #expect(bench.recorded == recorded)
        let (_, second) = bench.open("App", role)
        #expect(bench.phone.system.controllers.state == .unknown)
        #expect(bench.recorded == recorded)
        bench.phone.system.start()
        bench.world.run(.seconds(1))
        let events = second.take()
        let session = try #require(bench.phone.system.managers.sessions(of: AppIdentity(name: "com.example.App")).first)
        #expect(events.dropFirst() == [.stateChanged(.poweredOn)])
        #expect(session.manager.intent.requests == recorded)
        #expect(bench.recorded == recorded)
        switch (role, events.first) {
        case (.central, .central(.willRestore(let state))): #expect(state.scan?.services == [0x180D])
        case (.peripheral, .peripheral(.willRestore(let state))):
            #expect(state.services == [Example.heartRate])
            #expect(state.advertising?.localName == "Strap")
        default: Issue.record("\(events)")
        }
    }

    @Test(
        "behaviours 1.9, 10.15: an app that starts while the radio is off must repeat its requests when it is on"
    )
    func anAppThatComesWhileTheRadioIsOff() {
        let bench = RecordBench()
        bench.open().manager.send(Self.scan)
        bench.world.run(.seconds(1))
        bench.restart(isStarted: false)
        bench.phone.system.controllers.setPower(false, by: .controlCentre)
        bench.world.run(.seconds(1))
        #expect(bench.recorded == [Self.scan])
        let (_, manager) = bench.open()
        let events = manager.take()
        #expect(restored(events)?.scan != nil)
        #expect(events.dropFirst() == [.stateChanged(.poweredOff)])
        bench.phone.system.controllers.setPower(true, by: .controlCentre)
        bench.world.run(.seconds(1))
        #expect(bench.phone.system.centrals.map(\.scans) == [false])
        #expect(bench.recorded == [])
    }

    @Test(
        "behaviours 1.13, 1.14, 10.15: an app's services return with the radio, even if the app returned while it was off",
        arguments: [false, true]
    )
    func servicesReturnWithTheRadio(comesFirst: Bool) throws {
        let bench = RecordBench()
        try bench.open("Sensor", .peripheral).manager.publish()
        bench.world.run(.seconds(1))
        let recorded = try #require(bench.recorded)
        bench.restart(isStarted: false)
        let early = comesFirst ? bench.open("Sensor", .peripheral) : nil
        bench.phone.system.controllers.setPower(false, by: .controlCentre)
        bench.world.run(.seconds(1))
        let (_, manager) = early ?? bench.open("Sensor", .peripheral)
        guard case .peripheral(.willRestore(let state)) = manager.events.first else {
            return recordIssue("\(manager.events)")
        }
        #expect(state.services == [Example.heartRate])
        #expect(manager.take().dropFirst() == [.stateChanged(.poweredOff)])
        #expect(bench.recorded == recorded)
        bench.phone.system.controllers.setPower(true, by: .controlCentre)
        bench.world.run(.seconds(1))
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        let session = try #require(bench.phone.system.peripherals.first)
        #expect(session.publishedServices == [Example.heartRate])
        #expect(bench.phone.controller.isAdvertising)
        // A state below powered off removes them for good.
        bench.phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Sensor"))
        bench.phone.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "com.example.Sensor"))
        #expect(session.publishedServices.isEmpty)
        bench.world.run(.seconds(1))
        #expect(manager.take().count == 2)
        #expect(bench.recorded == [])
    }

    @Test(
        "behaviours 1.13, 10.7: if the returning app gets a state that ended its services, they are not restored"
    )
    func servicesEndedMeanwhileAreNotRestored() throws {
        let bench = RecordBench()
        let (app, first) = bench.open("Sensor", .peripheral)
        try first.publish()
        bench.phone.system.controllers.setPower(false, by: .controlCentre)
        bench.world.run(.seconds(1))
        app.happened(.ended(.removedFromMemory))
        for permission in [AppPermission.denied, .allowedAlways] {
            bench.phone.system.apps.permissions.set(permission, for: AppIdentity(name: "com.example.Sensor"))
            bench.world.run(.seconds(1))
        }
        let (_, second) = bench.open("Sensor", .peripheral)
        #expect(
            second.take().dropFirst() == [
                .stateChanged(.poweredOff), .stateChanged(.unauthorized), .stateChanged(.poweredOff),
            ]
        )
        bench.phone.system.controllers.setPower(true, by: .controlCentre)
        bench.world.run(.seconds(1))
        #expect(second.take() == [.stateChanged(.poweredOn)])
        // The app publishes again, as it must.
        #expect(throws: Never.self) { try second.publish() }
    }

    @Test("behaviour 1.4: a process that reconnects by itself is not restored, and its preserved state is dropped")
    func aProcessThatComesBackByItself() {
        let bench = RecordBench()
        bench.open().manager.send(Self.scan)
        bench.world.run(.seconds(1))
        bench.restart()
        let (_, manager) = bench.open(isReopened: true)
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        #expect(bench.phone.system.centrals.map(\.scans) == [false])
        #expect(bench.phone.system.apps.preservation.apps.isEmpty)
        bench.world.run(PreservedApp.reclaimTimeout)
        #expect(bench.recorded == [])
        #expect(bench.written.first?.managers.first?.options.isReopened == false)
        // The next manager is restored as usual.
        manager.send(Self.scan)
        bench.world.run(.seconds(1))
        bench.restart()
        #expect(restored(bench.open().manager.take())?.scan != nil)
    }

    @Test(
        "behaviours 1.4, 10.15: a process that reconnects and ends before it repeats its requests leaves those of before"
    )
    func aProcessThatEndsBeforeItAsksAgain() {
        let other = Request.central(.startScan(ScanRequest(services: [0x1810])))
        let bench = RecordBench()
        bench.open().manager.send(Self.scan)
        bench.world.run(.seconds(1))
        bench.restart()
        let (app, manager) = bench.open(isReopened: true)
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        #expect(bench.phone.system.centrals.map(\.scans) == [false])
        // A service that starts now restores it too.
        #expect(bench.recorded == [Self.scan])
        app.happened(.ended(.crashed))
        bench.world.run(.seconds(1))
        #expect(bench.recorded == [Self.scan])
        #expect(bench.phone.system.centrals.map(\.scans) == [true])
        #expect(restored(bench.open().manager.take())?.scan?.services == [0x180D])
        // The latest requests of the process count.
        bench.restart()
        let (second, again) = bench.open(isReopened: true)
        again.send(other)
        bench.world.run(.zero)
        #expect(bench.recorded == [other])
        second.happened(.ended(.crashed))
        #expect(restored(bench.open().manager.take())?.scan?.services == [0x1810])
    }

    @Test(
        "behaviour 1.4: requests that a reconnected process does not repeat end after 10 s, or when it withdraws them"
    )
    func unrepeatedRequestsEnd() {
        for stops in [false, true] {
            let bench = RecordBench()
            bench.open().manager.send(Self.scan)
            bench.world.run(.seconds(1))
            bench.restart()
            let (app, manager) = bench.open(isReopened: true)
            if stops { manager.send(.central(.stopScan)) } else { bench.world.run(PreservedApp.reclaimTimeout) }
            bench.world.run(.zero)
            #expect(bench.recorded == [])
            app.happened(.ended(.crashed))
            bench.world.run(.seconds(1))
            #expect(bench.phone.system.centrals.map(\.scans) == [false])
        }
    }

    /// Restarts a system whose app had a process, and has that app's scan find something.
    ///
    /// - Returns: The manager that receives the scan's results, as long as they are kept.
    @discardableResult
    private func restart(of bench: RecordBench, processLives: Bool) throws -> TestManager {
        let mark = ProcessMark(number: 77, beginning: "123")
        let (app, manager) = bench.open()
        app.runs(in: MarkedProcess(mark))
        manager.send(Self.scan)
        bench.world.run(.seconds(1))
        #expect(bench.written.first?.process == mark)
        bench.running = processLives ? [mark] : []
        bench.restart()
        let strap = bench.world.device("Strap").manager(.peripheral)
        try strap.publish()
        return strap
    }

    private final class MarkedProcess: AppProcess {
        let mark: ProcessMark?
        init(_ mark: ProcessMark?) { self.mark = mark }
        func suspend() {}
        func resume() {}
        func end() {}
    }

    @Test("behaviours 10.4, 10.15: an app whose process has ended is launched at once after a restart")
    func anAppWhoseProcessIsGoneIsLaunchedAtOnce() throws {
        let bench = RecordBench()
        try restart(of: bench, processLives: false)
        #expect(bench.world.run { !bench.launches.isEmpty })
        #expect(bench.launches == ["com.example.Collector"])
        #expect(bench.world.loop.now - bench.begin < .seconds(1))
    }

    @Test("behaviours 10.4, 10.15: no second process is launched after a restart while the first may reconnect")
    func noSecondProcessIsLaunched() throws {
        for comesByItself in [false, true] {
            let bench = RecordBench()
            try restart(of: bench, processLives: true)
            bench.world.run(Preservation.settleTime - .seconds(1))
            #expect(bench.launches.isEmpty)
            #expect(bench.phone.system.apps.preservation.apps.count == 1)
            if comesByItself { _ = bench.open(isReopened: true) }
            bench.world.run(.seconds(2))
            #expect(bench.launches == (comesByItself ? [] : ["com.example.Collector"]))
        }
    }

    @Test(
        "behaviours 10.4, 10.15: a launched process that has not connected when the service ends is waited for"
    )
    func aLaunchedProcessIsWaitedFor() throws {
        let mark = ProcessMark(number: 78, beginning: "124")
        let bench = RecordBench()
        let strap = try restart(of: bench, processLives: false)
        defer { withExtendedLifetime(strap) {} }
        bench.world.run(.seconds(1))
        #expect(bench.launches.count == 1)
        bench.phone.system.apps.preservation.launchStarted(AppIdentity(name: "com.example.Collector"), as: mark)
        bench.world.run(.zero)
        #expect(bench.written.first?.process == mark)
        bench.running = [mark]
        bench.restart()
        bench.world.run(.seconds(2))
        #expect(bench.launches.count == 1)
        bench.running = []
        #expect(bench.world.run { bench.launches.count == 2 })
    }

    @Test("behaviours 10.4, 10.15: a process that ends instead of reconnecting is replaced at once")
    func aProcessThatEndsIsReplacedAtOnce() throws {
        let bench = RecordBench()
        try restart(of: bench, processLives: true)
        bench.world.run(.seconds(1))
        #expect(bench.launches.isEmpty)
        bench.running = []
        bench.world.run(PreservedApp.checkInterval)
        #expect(bench.launches == ["com.example.Collector"])
    }

    @Test("behaviour 10.15: preserved state records the last process, and is updated with a new one")
    func theLastProcessIsRemembered() {
        let bench = RecordBench()
        let marks = [ProcessMark(number: 7, beginning: "1"), ProcessMark(number: 7, beginning: "2")]
        for mark in marks {
            let app = bench.phone.app("Collector", [.central])
            app.runs(in: MarkedProcess(mark))
            bench.world.run(.zero)
            _ = bench.phone.manager(.central, of: app, restoring: "one")
            bench.world.run(.seconds(1))
            let changes = bench.records.inner.changes
            #expect(bench.written.first?.process == mark)
            app.happened(.ended(.crashed))
            bench.world.run(.seconds(1))
            #expect(bench.written.first?.process == mark)
            #expect(bench.records.inner.changes == changes)
        }
    }

    @Test("behaviour 10.18: up to iOS 10, nothing survives a restart, and the record is removed", arguments: [10, 11])
    func upToTenNothingOutlivesARestart(version: Int) {
        let bench = RecordBench { $0.version = SystemVersion(integerLiteral: version) }
        bench.open().manager.send(Self.scan)
        bench.world.run(.seconds(1))
        #expect(bench.recorded == [Self.scan])
        bench.restart()
        bench.world.run(.seconds(1))
        #expect(bench.phone.system.centrals.count == (version > 10 ? 1 : 0))
        #expect(bench.written.count == (version > 10 ? 1 : 0))
    }

    @Test("AB-G06: a damaged record is reported and not used, and the system starts with the others")
    func aDamagedRecordIsNotUsed() {
        let bench = RecordBench()
        for name in ["One", "Two", "Three"] { bench.open(name).manager.send(Self.scan) }
        bench.open("Four").manager.send(Self.scan)
        bench.world.run(.seconds(1))
        let octets = bench.records.inner.contents[.app(0)] ?? []
        bench.records.inner.contents[.app(1)] = octets.dropLast()
        // The same app twice.
        bench.records.inner.contents[.app(2)] = octets
        bench.records.inner.contents[.permissions] = [9]
        let phone = bench.world.device("Phone", isUp: false, bonds: bench.storage)
        var told = 0
        phone.system.observers.add(.trouble) { _ in told += 1 }
        #expect(Set(phone.system.apps.preservation.apps.keys.map(\.name)) == ["com.example.One", "com.example.Four"])
        bench.world.run(.seconds(1))
        #expect(phone.system.controllers.state == .poweredOn)
        // Damaged records are replaced last.
        _ = phone.manager(.central, of: phone.app("Five"), restoring: "one")
        #expect(
            bench.records.inner.contents[.app(4)] != nil && bench.records.inner.contents[.app(1)] == octets.dropLast()
        )
    }

    @Test("behaviours 10.3, 10.15: an orderly shutdown keeps all preserved state")
    func anOrderlyEndTakesNothingAway() throws {
        let bench = RecordBench()
        bench.open().manager.send(Self.scan)
        try bench.open("Sensor", .peripheral).manager.publish()
        bench.world.run(.seconds(1))
        let before = bench.records.inner.contents
        bench.phone.system.stop()
        bench.world.run(.seconds(1))
        #expect(bench.records.inner.contents == before)
        #expect(bench.written.count == 2)
    }

    @Test("behaviour 1.18: the user's permissions survive a restart", arguments: [true, false])
    func permissionsSurviveARestart(isReset: Bool) {
        let bench = RecordBench { $0.permission = .notDetermined }
        var saved: [AppPermission] = []
        bench.records.willChange = { [bench] slot, _ in
            if slot == .permissions {
                saved.append(bench.phone.system.apps.permission(of: AppIdentity(name: "com.example.Collector")))
            }
        }
        let manager = bench.phone.manager(.central, of: bench.phone.app("Collector", usage: "To see"))
        bench.phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Collector"))
        if isReset { bench.phone.system.apps.permissions.reset(AppIdentity(name: "com.example.Collector")) }
        bench.world.run(.zero)
        #expect(saved.count == (isReset ? 2 : 1))
        #expect(!manager.events.isEmpty)
        bench.restart()
        let again = bench.phone.manager(.central, of: bench.phone.app("Collector", usage: "To see"))
        #expect(again.take() == (isReset ? [] : [.stateChanged(.unauthorized)]))
    }

    @Test("AB-G07: permissions stored by name alone apply to the service's user, and are saved anew that way")
    func permissionsByNameApplyToTheServicesUser() throws {
        let bench = RecordBench { $0.user = 1_000 }
        try bench.records.inner.save([1, 0, 1, 0, 1, 0, 0x61, 2], in: .permissions)
        bench.restart()
        let system = bench.phone.system
        #expect(system.apps.permission(of: AppIdentity(name: "a", owner: 1_000)) == .denied)
        #expect(system.apps.permission(of: AppIdentity(name: "a", owner: 1_001)) == .allowedAlways)
        let octets = try #require(bench.records.inner.contents[.permissions])
        let written = try PermissionRecord(reading: PacketBuffer(octets))
        #expect(written == PermissionRecord([AppIdentity(name: "a", owner: 1_000): AppDecision(.denied)]))
    }
}
