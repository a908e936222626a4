import ActivityKit
import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import ServiceMessages
import TestBasics
import Testing

/// What the activities of the tests show.
struct Walk: ActivityAttributes {
    struct ContentState: Codable, Hashable, Sendable {
        var steps: Int
    }

    var name = "Walk"
}

/// An app that scans without services, and notes the names of what it finds, again and again.
final class Scanner: CentralStandIn, @unchecked Sendable {
    // Safe: it has no mutable state of its own.
    let process: SimulatedApp
    let sightings = Notes<String>()

    init(in process: SimulatedApp) {
        self.process = process
        super.init(seeking: nil)
    }

    override func centralManagerDidUpdateState(_ central: CBCentralManager) {
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil, options: options) }
    }

    override func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        sightings.add(peripheral.name ?? "-")
    }
}

/// A phone with an app that declares Live Activities, and a belt in reach if it is wanted.
struct ActivityWorld {
    let world = SimulatedWorld(seed: 1)
    let phone: SimulatedDevice
    let scanner: Scanner
    private let belt: PeripheralStandIn?

    init(version: SystemVersion = .newest, declares: Bool = true, hasBelt: Bool = false) {
        belt = hasBelt ? world.addDevice(named: "Belt").launch("belt") { _ in PeripheralStandIn("Belt") } : nil
        phone = world.addDevice(named: "Phone", options: DeviceOptions(version: version))
        let list: [String: Any] = declares ? ["NSSupportsLiveActivities": true] : [:]
        scanner = phone.launch("scanner", declaring: AppDeclaration(propertyList: list)) { Scanner(in: $0) }
        world.run(for: .seconds(1))
    }

    var app: SimulatedApp { scanner.process }

    /// Runs code of the app, which ends at once.
    func inApp<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let results = Notes<Result<Value, any Error>>()
        app.task {
            do { results.add(.success(try await body())) } catch { results.add(.failure(error)) }
        }
        world.run(for: .milliseconds(10))
        return try #require(results.all.first).get()
    }

    func start(_ steps: Int = 0, staleDate: Date? = nil, pushType: PushType? = nil) throws -> Activity<Walk> {
        let content = ActivityContent(state: Walk.ContentState(steps: steps), staleDate: staleDate)
        return try inApp { try Activity.request(attributes: Walk(), content: content, pushType: pushType) }
    }

    func end(_ activity: Activity<Walk>, _ policy: ActivityUIDismissalPolicy = .default) throws {
        try inApp { await activity.end(nil, dismissalPolicy: policy) }
    }

    /// Notes the states of an activity from now on, and "over" at the end of the sequence.
    func states(of activity: Activity<Walk>) -> Notes<String> {
        let notes = Notes<String>()
        app.task {
            for await state in activity.activityStateUpdates { notes.add("\(state)") }
            notes.add("over")
        }
        world.run(for: .milliseconds(10))
        return notes
    }

    /// Whether the app finds the belt again and again within a second.
    func isScanning() -> Bool {
        _ = scanner.sightings.take()
        world.run(for: .seconds(1))
        return scanner.sightings.take().count > 5
    }
}
