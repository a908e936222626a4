import BluetoothTypes
import EventLoops
import Foundation
import Security
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService

/// Records on a disk that is slow or full.
@Suite struct SlowDiskTests {
    private static let slot = RecordSlot.app(0)

    private func scan(_ number: UInt16) -> Request { .central(.startScan(ScanRequest(services: [.init(number)]))) }

    /// The scans of an app's sessions.
    private func scanned(_ bench: RecordBench, _ app: String = "Greedy") -> [Request] {
        bench.phone.system.managers.sessions(of: AppIdentity(name: "com.example.\(app)")).flatMap(
            \.manager.intent.requests
        )
    }

    /// A greedy app in the first slot, whose saves are held from now on, and a modest one.
    private func makeBench() -> (bench: RecordBench, greedy: TestManager, modest: TestManager) {
        let bench = RecordBench()
        let greedy = bench.open("Greedy").manager
        let modest = bench.open("Modest").manager
        bench.records.isHeld = { $0 == Self.slot }
        return (bench, greedy, modest)
    }

    @Test("behaviour 10.15, AB-G05: while one app waits for the disk, other apps proceed, and so do their records")
    func otherAppsGoOn() {
        let (bench, greedy, modest) = makeBench()
        greedy.send(scan(1))
        bench.world.run(.seconds(5))
        #expect(bench.records.held == [Self.slot])
        #expect(scanned(bench).isEmpty)
        let requests = bench.phone.system.observers
        var performed: [Request] = []
        requests.add(.messages) { if case .requested(let request) = $0.content { performed.append(request) } }
        modest.send(.central(.resetScanFilter))
        modest.send(scan(2))
        bench.world.run(.zero)
        #expect(performed == [.central(.resetScanFilter), scan(2)])
        #expect(scanned(bench, "Modest") == [scan(2)])
        #expect(bench.written.last?.managers.first?.intent.requests == [scan(2)])
        // The save never completes: the greedy app waits for ever, and no other app does.
        bench.world.run(.seconds(3_600))
        #expect(scanned(bench).isEmpty)
        #expect(bench.records.held == [Self.slot])
    }

    @Test(
        "behaviour 10.15: requests are performed in order once they are saved, and requests that wait together are saved together"
    )
    func theOrderIsKept() {
        let (bench, greedy, _) = makeBench()
        var performed: [Request] = []
        bench.phone.system.observers.add(.messages) {
            if case .requested(let request) = $0.content { performed.append(request) }
        }
        let saves = bench.records.inner.changes
        let later = (2...9).map(scan)
        greedy.send(scan(1))
        bench.world.run(.milliseconds(1))
        for request in later {
            greedy.send(request)
            greedy.send(.central(.resetScanFilter))
        }
        bench.world.run(.seconds(1))
        #expect(performed.isEmpty)
        #expect(bench.records.inner.changes == saves)
        bench.records.complete()
        bench.world.run(.zero)
        // The first request is in the record. The others are not, and wait for the next save.
        #expect(performed == [scan(1)])
        #expect(bench.recorded == [scan(1)])
        #expect(scanned(bench) == [scan(1)])
        bench.records.complete()
        bench.world.run(.zero)
        #expect(performed == [scan(1)] + later.flatMap { [$0, .central(.resetScanFilter)] })
        #expect(bench.recorded == [scan(9)])
        #expect(scanned(bench) == [scan(9)])
        #expect(bench.records.inner.changes == saves + 2)
        #expect(bench.records.held.isEmpty)
    }

    @Test("behaviour 10.15: an event that changes the record meanwhile does not affect the requests that wait")
    func anEventMeanwhile() {
        let (bench, greedy, _) = makeBench()
        greedy.send(scan(1))
        bench.world.run(.zero)
        bench.phone.system.apps.records.noteChange(of: AppIdentity(name: "com.example.Greedy"))
        let second = bench.phone.manager(.central, of: greedy.connection, restoring: "two")
        bench.world.run(.zero)
        // The second manager's turn comes after the scan.
        #expect(second.take().isEmpty)
        while bench.records.complete() { bench.world.run(.zero) }
        #expect(bench.written.first?.managers.map(\.intent.requests) == [[scan(1)], []])
        #expect(scanned(bench) == [scan(1)])
        #expect(second.take() == [.stateChanged(.poweredOn)])
        #expect(!bench.records.hasOverlapped)
    }

    @Test("behaviour 10.15: a manager that is closed while its requests wait is closed after them")
    func aManagerIsClosedAfterItsRequests() {
        let (bench, greedy, _) = makeBench()
        var happened: [String] = []
        bench.phone.system.observers.add([.messages, .managers]) {
            switch $0.content {
            case .requested: happened.append("requested")
            case .managerClosed: happened.append("closed")
            default: break
            }
        }
        greedy.send(scan(1))
        greedy.close()
        bench.world.run(.seconds(1))
        #expect(happened.isEmpty)
        while bench.records.complete() { bench.world.run(.zero) }
        #expect(happened == ["requested", "closed"])
        #expect(bench.written.map(\.app.name) == ["com.example.Modest"])
    }

    @Test(
        "behaviours 10.4, 10.16: a process that dies while its requests wait is preserved with them, unless the user quit the app",
        arguments: [true, false]
    )
    func aProcessThatDiesMeanwhile(isCrashed: Bool) {
        let (bench, greedy, _) = makeBench()
        let app = greedy.connection
        greedy.send(scan(1))
        bench.world.run(.zero)
        app.happened(.ended(isCrashed ? .crashed : .forceQuit))
        #expect(scanned(bench) == (isCrashed ? [scan(1)] : []))
        while bench.records.complete() { bench.world.run(.zero) }
        #expect(bench.written.map(\.app.name).contains("com.example.Greedy") == isCrashed)
        #expect(scanned(bench) == (isCrashed ? [scan(1)] : []))
        guard isCrashed else { return }
        let (_, again) = bench.open("Greedy")
        guard case .central(.willRestore(let state)) = again.take().first else { return #expect(Bool(false)) }
        #expect(state.scan?.services == [1])
        // Requests of the dead process that were still waiting are dropped.
        again.send(scan(2))
        bench.world.run(.zero)
        while bench.records.complete() { bench.world.run(.zero) }
        #expect(scanned(bench) == [scan(2)])
        #expect(bench.recorded == [scan(2)])
    }

    @Test(
        "behaviour 10.15: power lost before the record is durable takes back nothing that an app has seen"
    )
    func powerThatGoes() {
        let random = RandomSource(seed: 4)
        for _ in 0..<50 {
            let (bench, greedy, _) = makeBench()
            for _ in 0..<random.below(12) {
                switch random.below(3) {
                case 0: greedy.send(scan(UInt16(random.below(5))))
                case 1: greedy.send(.central(.stopScan))
                default: if bench.records.held.contains(Self.slot) { bench.records.complete() }
                }
                bench.world.run(.zero)
                // A request is performed if and only if it is in the record.
                #expect(bench.recorded == scanned(bench))
            }
            let before = scanned(bench)
            bench.restart()
            #expect(scanned(bench) == before)
            #expect(!bench.records.hasOverlapped)
        }
    }

    @Test("behaviour 10.15: a slow save is reported once, and so is its completion")
    func aSlowSaveIsReported() {
        let (bench, greedy, _) = makeBench()
        greedy.send(scan(1))
        bench.world.run(RecordKeeper.slowness - .milliseconds(1))
        #expect(bench.troubles.isEmpty)
        bench.world.run(.seconds(100))
        #expect(bench.troubles.count == 1)
        #expect(bench.troubles.first?.contains("com.example.Greedy") == true)
        bench.records.complete()
        bench.world.run(.zero)
        // It did not fail before.
        #expect(bench.troubles.count == 2)
        #expect(bench.troubles.last?.hasSuffix("has been saved") == true)
        greedy.send(scan(2))
        bench.world.run(.milliseconds(1))
        bench.records.complete()
        bench.world.run(.seconds(100))
        #expect(bench.troubles.count == 2)
    }

    @Test(
        "AB-G05: a full disk is reported once per record, requests proceed, and records are saved once there is space"
    )
    func aFullDisk() {
        let bench = RecordBench()
        let greedy = bench.open("Greedy").manager
        let modest = bench.open("Modest").manager
        bench.records.inner.failure = .unavailable(reason: "no space left on device")
        for number in 1...20 as ClosedRange<UInt16> {
            greedy.send(scan(number))
            bench.world.run(.milliseconds(1))
        }
        modest.send(scan(30))
        bench.world.run(.zero)
        let reports = bench.troubles.count
        #expect(reports > 20)
        #expect(bench.troubles.allSatisfy { $0.contains("no space left") })
        // Failed retries are not reported again.
        bench.world.run(.seconds(300))
        #expect(scanned(bench) == [scan(20)])
        #expect(scanned(bench, "Modest") == [scan(30)])
        #expect(bench.troubles.count == reports)
        bench.records.inner.failure = nil
        bench.world.run(RecordKeeper.retryPause)
        #expect(bench.written.map { $0.managers.map(\.intent.requests) } == [[[scan(20)]], [[scan(30)]]])
        #expect(bench.troubles.dropFirst(reports).map { $0.contains("saved again") } == [true, true])
        let changes = bench.records.inner.changes
        bench.world.run(.seconds(300))
        #expect(bench.records.inner.changes == changes)
    }

    @Test(
        "behaviour 10.15: a system that shuts down waits for its saves, and also saves failed and later changes"
    )
    func aSystemThatEnds() {
        let (bench, greedy, _) = makeBench()
        greedy.send(scan(1))
        bench.world.run(.zero)
        bench.phone.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "com.example.Other"))
        bench.records.inner.failure = .unavailable(reason: "no space left on device")
        bench.phone.system.apps.permissions.set(.denied, for: AppIdentity(name: "com.example.Third"))
        #expect(!bench.troubles.isEmpty)
        bench.records.inner.failure = nil
        bench.phone.system.stop()
        #expect(bench.recorded == [scan(1)])
        #expect(bench.records.held.isEmpty)
        let kept = bench.records.inner.contents[.permissions].flatMap {
            try? PermissionRecord(reading: PacketBuffer($0))
        }
        #expect(kept?.decisions.count == 2)
    }

    @Test("AB-G05: the calls that wait for a disk are bounded, and the app is notified of one more")
    func soManyCallsWait() {
        let (bench, greedy, _) = makeBench()
        var misuse: [String] = []
        bench.phone.system.observers.add(.misuse) {
            if case .misused(let text, _) = $0.content { misuse.append(text) }
        }
        greedy.send(scan(1))
        for _ in 1..<RecordGate.maximumWaiting { greedy.send(.central(.resetScanFilter)) }
        bench.world.run(.zero)
        #expect(misuse.isEmpty)
        greedy.send(.central(.resetScanFilter))
        bench.world.run(.zero)
        #expect(misuse.count == 1)
        #expect(misuse.first?.contains("com.example.Greedy") == true)
    }

    @Test("behaviours 1.11, 10.15: what ends with the radio while a request waits for its record is not recorded again")
    func radioEndsWhileSaving() {
        let bench = RecordBench()
        let peer = bench.phone.system.peers.peer(at: BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)).identifier
        let greedy = bench.open("Greedy").manager
        greedy.send(.central(.peer(peer, .connect(ConnectOptions()))))
        bench.world.run(.zero)
        bench.records.isHeld = { $0 == Self.slot }
        greedy.send(scan(1))
        bench.world.run(.zero)
        let manager = bench.phone.system.centrals.first?.manager
        #expect(manager?.recordedIntent.requests.count == 2)
        bench.phone.system.controllers.setPower(false, by: .controlCentre)
        bench.world.run(.zero)
        #expect(manager?.recordedIntent.requests == [scan(1)])
        while !bench.records.held.isEmpty {
            bench.records.complete()
            bench.world.run(.zero)
        }
        #expect(bench.recorded == [])
    }

    @Test(
        "behaviour 10.15: an app whose process ends while its record is saved waits no longer, and a late save is nothing to it",
        arguments: [AppEnd.crashed, .forceQuit]
    )
    func endWhileSaving(end: AppEnd) {
        let bench = RecordBench()
        let (connection, manager) = bench.open("Greedy")
        let waits = Mutex<[Bool]>([])
        connection.app.with { $0.onWait = { isWaiting in waits.withLock { $0.append(isWaiting) } } }
        bench.records.isHeld = { $0 == Self.slot }
        var performed: [Request] = []
        bench.phone.system.observers.add(.messages) {
            if case .requested(let request) = $0.content { performed.append(request) }
        }
        manager.send(scan(1))
        bench.world.run(.zero)
        #expect(waits.withLock { $0 } == [true])
        #expect(performed.isEmpty)
        connection.happened(.ended(end))
        bench.world.run(.zero)
        let isWaiting = connection.app.with { $0.isWaiting }
        #expect(waits.withLock { $0 } == [true, false])
        #expect(!isWaiting)
        #expect(performed == (end == .crashed ? [scan(1)] : []))
        while !bench.records.held.isEmpty {
            bench.records.complete()
            bench.world.run(.zero)
        }
        #expect(waits.withLock { $0 } == [true, false])
        #expect(performed == (end == .crashed ? [scan(1)] : []))
    }
}
