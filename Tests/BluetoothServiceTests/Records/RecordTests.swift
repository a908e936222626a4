import BluetoothTypes
import Foundation
import Security
import Testing

@testable import BluetoothService
@testable import ServiceMessages

/// App state is saved before it takes effect, and only when it changes.
@Suite struct RecordTests {
    private static let scan = Request.central(.startScan(ScanRequest(services: [0x180D])))

    /// The requests that a manager must repeat after a restart, each with the number kept after it.
    private func requests(_ peer: UUID) -> [(ManagerRole, [(Request, Int)])] {
        let other = ScanRequest(services: [0x180F])
        let connect = Request.central(.peer(peer, .connect(ConnectOptions())))
        let advertise = Request.peripheral(.startAdvertising(AdvertisingRequest(localName: "Belt", services: [0x180D])))
        let central: [(Request, Int)] = [
            (Self.scan, 1), (.central(.startScan(other)), 1), (connect, 2), (.central(.stopScan), 1),
            (.central(.peer(peer, .cancelConnection)), 0), (connect, 1), (.central(.peer(peer, .forget)), 0),
        ]
        let peripheral: [(Request, Int)] = [
            (.peripheral(.addService(Example.heartRate)), 1), (advertise, 2), (.peripheral(.stopAdvertising), 1),
            (.peripheral(.removeService(Example.serviceID)), 0), (.peripheral(.addService(Example.heartRate)), 1),
            (.peripheral(.removeAllServices), 0),
        ]
        return [(.central, central), (.peripheral, peripheral)]
    }

    @Test("behaviour 10.15: each request is saved before it is performed, in one save, without another after it")
    func eachRequestIsWrittenBeforeItIsPerformed() throws {
        let peer = try #require(UUID(uuidString: "00010203-0405-4607-8809-0A0B0C0D0E0F"))
        for (role, requests) in requests(peer) {
            let bench = RecordBench()
            let peer = bench.phone.system.peers.peer(at: BluetoothAddress(0xC000_0000_0001, kind: .randomDevice))
                .identifier
            let (_, manager) = bench.open("App", role)
            let session = try #require(
                bench.phone.system.managers.sessions(of: AppIdentity(name: "com.example.App")).first
            )
            for (request, count) in self.requests(peer).first(where: { $0.0 == role })?.1 ?? requests {
                let (before, saves) = (session.manager.intent.requests, bench.records.inner.changes)
                var stood: [[Request]] = []
                bench.records.willChange = { _, _ in stood.append(session.manager.intent.requests) }
                manager.send(request)
                bench.world.run(.milliseconds(50))
                #expect(stood == [before], "\(request)")
                #expect(
                    session.manager.intent.requests != before && bench.records.inner.changes == saves + 1,
                    "\(request)"
                )
                #expect(
                    bench.recorded == session.manager.intent.requests && session.manager.intent.requests.count == count,
                    "\(request)"
                )
            }
        }
    }

    @Test(
        "nothing is saved without changes, without a restore identifier, or for unmanaged apps"
    )
    func unchangedRecordsAreNotSaved() throws {
        let bench = RecordBench()
        let (_, manager) = bench.open()
        manager.send(Self.scan)
        bench.world.run(.seconds(1))
        let changes = bench.records.inner.changes
        #expect(changes == 2)
        for request in [Self.scan, .central(.resetScanFilter), .central(.watchConnections(nil))] {
            manager.send(request)
        }
        let plain = bench.phone.manager(.central, of: bench.phone.app("Plain"))
        plain.send(Self.scan)
        let unmanaged = bench.phone.manager(.central, restoring: "one")
        unmanaged.send(Self.scan)
        bench.world.run(.seconds(1))
        #expect(bench.records.inner.changes == changes)
        #expect(bench.written.count == 1)
    }

    @Test("changes by events of one loop iteration are saved once, at its end")
    func changesOfOneIterationAreSavedOnce() {
        let bench = RecordBench()
        let app = bench.phone.app("Collector", .central)
        for number in 0..<5 { _ = bench.phone.manager(.central, of: app, restoring: "\(number)") }
        let managers = bench.phone.system.centrals
        for manager in managers { manager.handle(Self.scan) }
        bench.phone.system.apps.records.noteChange(of: AppIdentity(name: "com.example.Collector"))
        bench.world.run(.zero)
        let changes = bench.records.inner.changes
        #expect(bench.written.first?.managers.map(\.intent.requests) == Array(repeating: [Self.scan], count: 5))
        bench.phone.system.controllers.setPower(false)
        bench.world.run(.seconds(1))
        #expect(bench.records.inner.changes == changes + 1)
        #expect(bench.written.first?.managers.map(\.intent.requests) == Array(repeating: [], count: 5))
    }

    @Test("a failed request is not kept")
    func aRequestThatComesToNothingIsNotKept() {
        let bench = RecordBench()
        let (_, manager) = bench.open()
        manager.send(.central(.peer(.blank, .connect(ConnectOptions()))))
        bench.world.run(.seconds(1))
        #expect(bench.recorded == [])
        let (_, sensor) = bench.open("Sensor", .peripheral)
        var wrong = AdvertisingRequest(localName: "Belt")
        wrong.manufacturerData = [1]
        sensor.send(.peripheral(.startAdvertising(wrong)))
        bench.world.run(.seconds(1))
        #expect(bench.written.last?.managers.first?.intent.requests == [])
    }

    @Test("a failed save is reported, the request proceeds, and the next change is saved")
    func aSaveThatFailsIsTold() {
        let bench = RecordBench()
        let (_, manager) = bench.open()
        bench.records.inner.failure = .unavailable(reason: "the disk is full")
        manager.send(Self.scan)
        bench.world.run(.zero)
        #expect(bench.phone.system.centrals.first?.scans == true)
        #expect(bench.troubles.contains { $0.contains("the disk is full") })
        #expect(bench.recorded == [])
        bench.records.inner.failure = nil
        manager.send(.central(.startScan(ScanRequest(services: [0x180F]))))
        bench.world.run(.zero)
        #expect(bench.recorded == [.central(.startScan(ScanRequest(services: [0x180F])))])
    }

    @Test(
        "a value that could not be decoded again is not saved, and the older state stays",
        .enabled(if: MessageCrossing.chosen == .direct, "a message has no room for such a value")
    )
    func aValueThatCouldNotBeReadAgainIsNotWritten() {
        let bench = RecordBench()
        let (_, manager) = bench.open("Sensor", .peripheral)
        manager.send(.peripheral(.addService(Example.heartRate)))
        bench.world.run(.zero)
        let name = String(repeating: "a", count: MessageLimits.text + 1)
        manager.send(.peripheral(.startAdvertising(AdvertisingRequest(localName: name))))
        bench.world.run(.zero)
        #expect(bench.recorded == [.peripheral(.addService(Example.heartRate))])
        #expect(!bench.troubles.isEmpty)
    }

    @Test(
        "behaviours 10.15, 10.16: a record exists while the app runs or is preserved, and is removed with the last preserved state",
        arguments: [true, false]
    )
    func aRecordGoesWhenNothingIsKept(isCrashed: Bool) {
        func check(_ what: String, _ end: (RecordBench, InProcessConnection, TestManager) -> Void) {
            let bench = RecordBench()
            let (app, manager) = bench.open()
            manager.send(Self.scan)
            bench.world.run(.zero)
            if isCrashed { app.happened(.ended(.crashed)) }
            bench.world.run(.seconds(1))
            #expect(bench.recorded == [Self.scan], "\(what)")
            end(bench, app, manager)
            bench.world.run(.seconds(1))
            #expect(bench.written.isEmpty && bench.records.inner.contents.isEmpty, "\(what)")
        }
        check("ended by the person") { _, app, _ in app.happened(.ended(.forceQuit)) }
        if isCrashed {
            check("switched off in Settings") { bench, _, _ in bench.phone.system.controllers.setPower(false) }
            check("time-out over") { bench, _, _ in
                _ = bench.phone.app("Collector")
                bench.world.run(PreservedApp.reclaimTimeout)
            }
        } else {
            check("closed by the app") { _, _, manager in manager.close() }
        }
    }

    @Test("AB-G05: the number of recorded apps is bounded, and the excess is reported")
    func ofSoManyAppsRecordsAreKept() {
        let bench = RecordBench()
        // Half of the slots; the rest are for other users.
        let most = ServiceLimits.recordedApps.total / 2
        let apps = (0...most).map { bench.open("App\($0)") }
        #expect(bench.written.count == most)
        #expect(bench.troubles.count == 1)
        apps[3].app.happened(.ended(.forceQuit))
        bench.world.run(.zero)
        apps[most].manager.send(Self.scan)
        bench.world.run(.zero)
        #expect(bench.written.count == most)
        #expect(bench.written[3].app.name == "com.example.App\(most)")
        #expect(bench.written[3].managers.first?.intent.requests == [Self.scan])
    }
}
