import BluetoothTypes
import EventLoops
import Foundation
import HCI
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// A phone and a belt whose apps are left, opened, killed and launched at random. They react to events as real apps
/// would.
final class LifecycleWorld: AppLauncher {
    enum Step: CaseIterable {
        case wait, sleep, measure, leaveCentral, enterCentral, leaveSensor, enterSensor, crashCentral, crashSensor,
            quitCentral,
            quitSensor, loseLinks, settings, controlCentre, restartCentral, restartPhone
    }

    let world = ServiceWorld()
    private(set) var phone: TestDevice
    let belt: TestDevice
    /// The storage of the phone.
    private let storage = MemoryBondStorage(secret: RandomSource(seed: 5), records: MemoryRecordStorage())
    private var random: RandomSource
    private let modes: AppDeclaration.BackgroundModes
    private(set) var collector: Collector
    private(set) var sensor: Sensor
    /// Descriptions of the conditions that do not hold.
    private(set) var faults: [String] = []
    private var launches: [(name: String, managers: RestoreIdentifiers)] = []
    private var lastMeasured: UInt16 = 0
    private var lastReception: UInt16 = 0

    /// An app in the central role: connects to the belt, subscribes, and reads.
    final class Collector {
        let app: InProcessConnection
        let manager: TestManager
        var isOn = false
        var uses = false
        var rate: AttributeHandle?
        var isNotifying = false
        /// The belt that was connected when the previous process ended.
        var restored: UUID?
        var first: Event?

        init(_ device: TestDevice, _ modes: AppDeclaration.BackgroundModes) {
            app = device.app("Collector", modes)
            manager = device.manager(.central, of: app, restoring: "collector")
        }
    }

    /// An app in the peripheral role that counts its credits.
    final class Sensor {
        let app: InProcessConnection
        let manager: TestManager
        var isOn = false
        /// Nil before the request, and false until it is confirmed.
        var isPublished: Bool?
        var isAdvertising: Bool?
        var room = ServiceLimits.valueUpdates
        var first: Event?

        init(_ device: TestDevice, _ modes: AppDeclaration.BackgroundModes) {
            app = device.app("Sensor", modes)
            manager = device.manager(.peripheral, of: app, restoring: "sensor")
        }
    }

    init(seed: UInt64) {
        random = RandomSource(seed: seed)
        modes = [[], [.central], [.peripheral], [.central, .peripheral]][Int(random.below(4))]
        phone = world.device("Phone", bonds: storage)
        belt = world.device("Belt")
        collector = Collector(phone, modes)
        sensor = Sensor(belt, modes)
        phone.system.apps.preservation.launcher = self
        belt.system.apps.preservation.launcher = self
        settle()
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) { launches.append((app.name, managers)) }

    /// Performs the launches that the system has requested, off its loop.
    private func launchWanted() {
        let wanted = launches
        launches = []
        for (name, managers) in wanted {
            if managers == RestoreIdentifiers() { faults.append("launched for nothing") }
            if name.hasSuffix("Collector") {
                if collector.app.phase.isOver { launchCollector() }
            } else if sensor.app.phase.isOver {
                launchSensor()
            }
        }
    }

    private func launchCollector() { collector = Collector(phone, modes) }

    private func launchSensor() { sensor = Sensor(belt, modes) }

    // MARK: Steps

    /// Takes a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - lot: The seed of the step's randomness, so that leaving a step out does not change the steps after it.
    func take(_ step: Step, lot: UInt64) {
        random = RandomSource(seed: lot)
        switch step {
        case .wait: world.run(.milliseconds(Int64(random.below(2_000))))
        case .sleep: world.run(.seconds(Int64(random.below(60))))
        case .measure: measure()
        case .leaveCentral: collector.app.happened(.left)
        case .enterCentral: enterCollector()
        case .leaveSensor: sensor.app.happened(.left)
        case .enterSensor: enterSensor()
        case .crashCentral: collector.app.happened(.ended(.crashed))
        case .restartCentral:
            collector.app.happened(.ended(.removedFromMemory))
            enterCollector()
        case .crashSensor: sensor.app.happened(.ended(.crashed))
        case .quitCentral: collector.app.happened(.ended(.forceQuit))
        case .quitSensor: sensor.app.happened(.ended(.forceQuit))
        case .loseLinks: belt.controller.loseLinks(.connectionTimeout)
        case .settings: toggle(.settings)
        case .controlCentre: toggle(.controlCentre)
        case .restartPhone: restartPhone()
        }
        settle()
    }

    /// The phone loses power without warning, and starts again.
    private func restartPhone() {
        phone.system.apps.records.keeper.close()
        phone.system.apps.preservation.launcher = nil
        collector.app.happened(.ended(.deviceRestarted))
        phone.system.stop()
        phone.controller.isInRange = false
        phone.controller.loseLinks(.connectionTimeout)
        world.run(.seconds(1))
        phone = world.device("Phone", bonds: storage)
        phone.system.apps.preservation.launcher = self
    }

    private func toggle(_ powerSwitch: PowerSwitch) {
        let device = random.below(2) == 0 ? phone : belt
        device.system.controllers.setPower(false, by: powerSwitch)
        world.run(.milliseconds(Int64(random.below(500))))
        device.system.controllers.setPower(true, by: powerSwitch)
    }

    private func enterCollector() {
        if collector.app.phase.isOver { launchCollector() } else { collector.app.happened(.entered) }
    }

    private func enterSensor() {
        if sensor.app.phase.isOver { launchSensor() } else { sensor.app.happened(.entered) }
    }

    /// Sends a measurement, provided that the app is running and has credits.
    private func measure() {
        guard sensor.isOn, sensor.isPublished == true, sensor.room > 0,
            [.foreground, .background].contains(sensor.app.phase)
        else { return }
        lastMeasured += 1
        sensor.room -= 1
        let value: PacketBuffer = [UInt8(truncatingIfNeeded: lastMeasured), UInt8(lastMeasured >> 8)]
        sensor.manager.send(.updateValue(characteristic: Example.measurementID, value: value, centrals: nil))
    }

    /// Brings everything to rest: both apps in the foreground, with power, and enough time.
    func comeToRest() {
        enterCollector()
        enterSensor()
        for _ in 0..<40 {
            world.run(.seconds(1))
            settle()
        }
    }

    // MARK: App behaviour

    /// Lets the apps react until no events are left.
    func settle() {
        for _ in 0..<20 {
            world.run(.milliseconds(100))
            launchWanted()
            let (events, requests) = (collector.manager.take(), sensor.manager.take())
            if events.isEmpty, requests.isEmpty { break }
            for event in events { react(collector, event) }
            for event in requests { react(sensor, event) }
        }
        let canAdvertise = sensor.isOn && sensor.isPublished == true && sensor.app.phase == .foreground
        if canAdvertise, sensor.isAdvertising == nil { advertise() }
    }

    private func advertise() {
        sensor.isAdvertising = false
        sensor.manager.send(.startAdvertising(AdvertisingRequest(localName: "Belt", services: [Example.service])))
    }

    private func react(_ app: Collector, _ event: Event) {
        if app.first == nil { app.first = event }
        switch event {
        case .stateChanged(let state):
            app.isOn = state == .poweredOn
            if !app.isOn { (app.uses, app.rate, app.isNotifying) = (false, nil, false) }
            goOn(app)
            if app.isOn, !app.uses { app.manager.send(.startScan(ScanRequest(services: [Example.service]))) }
        case .central(.willRestore(let state)): restore(app, state)
        case .central(.discovered(let peer, _, _)):
            guard app.isOn, !app.uses else { return }
            app.uses = true
            app.manager.send(.stopScan)
            app.manager.send(.connect(peer: peer.identifier, options: ConnectOptions()))
        case .central(.peer(let peer, let event)): react(app, event, of: peer)
        case .central, .peripheral, .channel, .setup, .activity: break
        }
    }

    /// Continues from the restored state with the steps that remain (behaviour 10.13).
    private func goOn(_ app: Collector) {
        guard app.isOn, let peer = app.restored else { return }
        app.restored = nil
        if !app.isNotifying { app.manager.send(.discoverServices(peer: peer, uuids: [Example.service])) }
    }

    private func restore(_ app: Collector, _ state: RestoredCentral) {
        app.uses = !state.peers.isEmpty
        app.restored = state.peers.first { $0.maximumWriteWithoutResponse != nil }?.info.identifier
        let found = state.peers.first?.services.flatMap(\.characteristics) ?? []
        let rate = found.first { $0.characteristic.uuid == Example.measurement }
        (app.rate, app.isNotifying) = (rate?.characteristic.handle, rate?.isNotifying ?? false)
    }

    private func react(_ app: Collector, _ event: PeerEvent, of peer: UUID) {
        switch event {
        case .connected: app.manager.send(.discoverServices(peer: peer, uuids: [Example.service]))
        case .servicesModified:
            (app.rate, app.isNotifying) = (nil, false)
            app.manager.send(.discoverServices(peer: peer, uuids: [Example.service]))
        case .servicesDiscovered(.success(let services)):
            for service in services {
                app.manager.send(.discoverCharacteristics(peer: peer, service: service.handle, uuids: nil))
            }
        case .characteristicsDiscovered(_, .success(let found)):
            app.rate = found.first { $0.uuid == Example.measurement }?.handle
            if let rate = app.rate { app.manager.send(.setNotify(peer: peer, characteristic: rate, enabled: true)) }
        case .notifyStateChanged(_, let isNotifying, _): app.isNotifying = isNotifying
        case .valueNotified(_, let value): heard(UInt16(value[0]) | UInt16(value[1]) << 8)
        case .disconnected, .connectionFailed:
            (app.rate, app.isNotifying) = (nil, false)
            if app.isOn { app.manager.send(.connect(peer: peer, options: ConnectOptions())) }
        default: break
        }
    }

    private func heard(_ number: UInt16) {
        if number <= lastReception { faults.append("value \(number) after \(lastReception)") }
        if number > lastMeasured { faults.append("value \(number) that was not measured") }
        lastReception = number
    }

    private func react(_ app: Sensor, _ event: Event) {
        if app.first == nil { app.first = event }
        switch event {
        case .stateChanged(let state):
            app.isOn = state == .poweredOn
            if state != .poweredOn {
                app.room = ServiceLimits.valueUpdates
                // Requests without a response so far are lost (behaviour 1.6).
                if app.isPublished == false { app.isPublished = nil }
                if app.isAdvertising == false { app.isAdvertising = nil }
            }
            guard app.isOn, app.isPublished == nil else { return }
            app.isPublished = false
            app.manager.send(.addService(Example.heartRate))
        case .peripheral(.willRestore(let state)):
            app.isPublished = state.services.isEmpty ? nil : true
            app.isAdvertising = state.advertising == nil ? nil : true
        case .peripheral(.serviceAdded(_, let error)): app.isPublished = error == nil ? true : nil
        case .peripheral(.advertisingStarted(let error, _)): app.isAdvertising = error == nil ? true : nil
        case .peripheral(.updateCreditsReturned(let count)): app.room += count
        case .peripheral, .central, .channel, .setup, .activity: break
        }
    }

    // MARK: Conditions

    /// The conditions that hold once everything is at rest.
    func check() {
        func demand(_ holds: Bool, _ text: String) { if !holds { faults.append(text) } }
        demand(
            phone.system.apps.preservation.apps.isEmpty && belt.system.apps.preservation.apps.isEmpty,
            "something is kept although the apps run"
        )
        demand(collector.isOn && sensor.isOn, "an app does not see the radio on")
        demand(sensor.room == ServiceLimits.valueUpdates, "the sensor has room for \(sensor.room)")
        demand(collector.isNotifying, "the collector is not subscribed")
        demand(collector.first.isBeginning && sensor.first.isBeginning, "a manager began with something else")
        let before = lastReception
        measure()
        world.run(.seconds(1))
        settle()
        demand(lastReception == lastMeasured && lastReception > before, "the last value was not heard")
        collector.app.happened(.ended(.forceQuit))
        sensor.app.happened(.ended(.forceQuit))
        world.run(.seconds(2))
        demand(phone.system.links.all.isEmpty && belt.system.links.all.isEmpty, "a link is left")
        demand(phone.system.peers.heldCount == 0 && belt.system.peers.heldCount == 0, "a peer is held")
        demand(phone.system.centrals.isEmpty && belt.system.peripherals.isEmpty, "a manager is left")
        demand(!phone.controller.isScanning && !belt.controller.isAdvertising, "the radio is in use")
    }
}

extension AppPhase {
    fileprivate var isOver: Bool { if case .notRunning = self { true } else { false } }
}

extension Event? {
    /// Whether a manager may receive this event first (behaviour 10.7).
    fileprivate var isBeginning: Bool {
        switch self {
        case .stateChanged, .central(.willRestore), .peripheral(.willRestore): true
        case .central, .peripheral, .channel, .setup, .activity, nil: false
        }
    }
}
