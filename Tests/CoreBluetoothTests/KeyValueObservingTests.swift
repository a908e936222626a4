import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Synchronization
import Testing

@Suite struct KeyValueObservingTests {
    /// The reports of observers, from whichever thread.
    private final class Reports: Sendable {
        private let lines = Mutex<[String]>([])

        func note(_ line: String) { lines.withLock { $0.append(line) } }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test("behaviour 3.4: the states of a connection can be observed, each with the value before")
    func statesOfAConnectionAreObserved() {
        let app = CentralApp.discovering()
        let reports = Reports()
        let observation = app.peripheral.observe(\.state, options: [.initial, .old, .new]) { peripheral, change in
            let old = change.oldValue.map { "\($0.rawValue)" } ?? "-"
            reports.note("\(old) \(change.newValue!.rawValue) \(peripheral.state.rawValue)")
        }
        app.manager.connect(app.peripheral)
        app.manager.connect(app.peripheral)
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        app.manager.cancelPeripheralConnection(app.peripheral)
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(reports.take() == ["- 0 0", "0 1 1", "1 2 2", "2 3 3", "3 0 0"])
        observation.invalidate()
        app.manager.connect(app.peripheral)
        #expect(reports.take().isEmpty)
    }

    /// An object with a manager, as apps have one that they observe by a path from themselves.
    private final class Owner: @unchecked Sendable {
        // Safe: used by one test.
        var manager: CBCentralManager?

        init(_ manager: CBCentralManager?) { self.manager = manager }
    }

    @Test("behaviour 3.4: a property is observed through another object, which may lack it")
    func propertiesAreObservedThroughOthers() throws {
        let app = CentralApp.poweredOn()
        let reports = Reports()
        let (owner, empty) = (Owner(app.manager), Owner(nil))
        var observations = [owner, empty].map { owner in
            NSKeyValueObservation.observe(
                owner,
                throughOptional: { $0.manager },
                \.isScanning,
                options: [.initial, .old, .new]
            ) { owner, change in
                let new = change.newValue.map { value in value.map { "\($0)" } ?? "nil" } ?? "-"
                reports.note("\(change.oldValue == nil ? "-" : "old") \(new) \(owner.manager == nil)")
            }
        }
        let manager = try #require(app.manager)
        observations.append(
            NSKeyValueObservation.observe(owner, through: { _ in manager }, \.isScanning) { _, change in
                reports.note("plain \(change.newValue == nil)")
            }
        )
        #expect(reports.take() == ["- false false", "- nil true"])
        manager.scanForPeripherals(withServices: nil)
        #expect(reports.take() == ["old true false", "plain true"])
        for observation in observations { observation.invalidate() }
        manager.stopScan()
        #expect(reports.take().isEmpty)
    }

    @Test("behaviour 3.4: observers are told before the delegate, on the manager's queue, and may use the object")
    func observersAreToldBeforeTheDelegate() {
        let (app, characteristic) = CentralApp.exploring()
        let reports = Reports()
        let queue = app.queue
        let peripheral = app.peripheral!
        app.onCall = { reports.note($0) }
        let observations = [
            peripheral.observe(\.state) { peripheral, _ in
                dispatchPrecondition(condition: .onQueue(queue))
                reports.note("state \(peripheral.state.rawValue) \(peripheral.services?.count ?? -1)")
            },
            peripheral.observe(\.services) { peripheral, change in
                reports.note("services \(peripheral.services?.count ?? -1) \(change.newValue == nil)")
            },
            characteristic.observe(\.isNotifying) { [weak peripheral] characteristic, _ in
                reports.note("notifying \(characteristic.isNotifying) \(peripheral?.state.rawValue ?? -1)")
            },
            characteristic.observe(\.value, options: .new) { _, change in
                reports.note("value \(change.newValue??.first ?? 0)")
            },
        ]
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, nil))
        app.service.deliver(.valueNotified(peer: app.peer, characteristic: 3, [7]))
        app.service.deliver(.valueNotified(peer: app.peer, characteristic: 3, [7]))
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(
            reports.take() == [
                "notifying true 2", "notifying true", "value 7", "value 07", "value 07", "state 0 -1",
                "services -1 true", "notifying false 0", "didDisconnect",
            ]
        )
        withExtendedLifetime(observations) {}
    }

    @Test("properties that were nil and stay nil do not change") func nilIsEqualToNil() {
        let app = CentralApp.discovering()
        let reports = Reports()
        let name = app.peripheral.observe(\.name, options: [.old, .new]) { _, change in
            reports.note("\(change.oldValue! ?? "nil") \(change.newValue! ?? "nil")")
        }
        app.manager.connect(app.peripheral)
        #expect(reports.take().isEmpty)
        app.service.deliver(.connected(PeerInfo(identifier: app.peer, name: "Strap"), maximumWriteWithoutResponse: 20))
        #expect(reports.take() == ["nil Strap"])
        withExtendedLifetime(name) {}
    }

    @Test("managers can be observed: their state, and whether they scan") func managersAreObserved() {
        let app = CentralApp()
        let reports = Reports()
        let state = app.manager.observe(\.state, options: .new) { _, change in
            reports.note("state \(change.newValue!.rawValue)")
        }
        let scan = app.manager.observe(\.isScanning, options: .new) { _, change in
            reports.note("scan \(change.newValue!)")
        }
        app.powerOn()
        app.manager.scanForPeripherals(withServices: nil)
        app.manager.scanForPeripherals(withServices: nil)
        app.manager.stopScan()
        #expect(reports.take() == ["state 5", "scan true", "scan false"])
        withExtendedLifetime((state, scan)) {}
    }

    @Test("an observation ends with its object, and does not keep the observed object")
    func observationsEndWithTheirObjects() {
        let app = CentralApp.discovering()
        let reports = Reports()
        var observation: NSKeyValueObservation? = app.peripheral.observe(\.state) { _, _ in reports.note("changed") }
        withExtendedLifetime(observation) { app.manager.connect(app.peripheral) }
        observation = nil
        app.manager.cancelPeripheralConnection(app.peripheral)
        #expect(reports.take() == ["changed"])
        observation = app.peripheral.observe(\.state) { _, _ in reports.note("changed") }
        weak let gone = app.peripheral
        app.peripheral = nil
        #expect(gone == nil)
        observation?.invalidate()
    }

    @Test("properties can be read by their names in Objective-C") func propertiesByName() {
        let (app, characteristic) = CentralApp.exploring()
        let peripheral = app.peripheral!
        #expect(peripheral.value(forKey: "identifier") as? UUID == app.peer)
        #expect(peripheral.value(forKey: "identifier") as? NSUUID == NSUUID(uuidString: app.peer.uuidString))
        #expect(peripheral.value(forKey: "state") as? Int == 2)
        #expect(peripheral.value(forKey: "name") == nil)
        #expect((peripheral.value(forKey: "services") as? [CBService])?.count == 1)
        #expect(characteristic.value(forKey: "UUID") as? CBUUID == CBUUID(string: "2A37"))
        #expect(characteristic.value(forKey: "value") == nil)
        #expect((characteristic.value(forKey: "service") as? CBService) === characteristic.service)
        #expect(app.manager.value(forKey: "isScanning") as? Bool == true)
    }

    @Test("a name that the object does not have ends the program, with a line that says so") func unknownNames() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let app = CentralApp()
            _ = app.manager.value(forKey: "identifier")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("has no property of the name identifier"))
    }
}
