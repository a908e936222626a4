import EventLoops
import Foundation
import Logging
import Security
import ServiceMessages

@testable import BluetoothService

/// A device of a ``RandomWorld``: a controller that can be unplugged, storage, and a series of systems.
final class WorldDevice: AppLauncher {
    let shape: WorldShape.Device
    private(set) var apps: [WorldApp] = []
    var model: RestorationModel
    private(set) var isPlugged = true
    private(set) var isSwitchedOn = true
    private(set) var isInRange = true
    private(set) var denied: Set<Int> = []
    /// The number of radio changes for each app.
    private var changes: [Int: Int] = [:]
    /// When it started to advertise or scan without any app requesting it.
    private var advertisesForNobody: Instant?
    private var scansForNobody: Instant?
    /// When one of the properties above last changed.
    private(set) var lastChange = Instant.zero

    private let number: Int
    private let seed: UInt64
    private unowned let world: RandomWorld
    private let storage: MemoryBondStorage
    private let radio: any WorldRadio
    private var current: BluetoothSystem?
    private var systems: UInt64 = 0
    private var launches: [(app: AppIdentity, managers: RestoreIdentifiers)] = []

    init(
        _ shape: WorldShape.Device,
        _ number: Int,
        seed: UInt64,
        with radio: any WorldRadio,
        in world: RandomWorld
    ) {
        self.radio = radio
        self.shape = shape
        self.number = number
        self.seed = seed &+ UInt64(number) &* 1_000
        self.world = world
        model = RestorationModel(shape.version)
        storage = MemoryBondStorage(secret: RandomSource(seed: seed), records: MemoryRecordStorage())
        begin()
        apps = shape.apps.map { WorldApp($0, on: self, in: world) }
    }

    var system: BluetoothSystem {
        guard let current else { preconditionFailure("a device has a system from its beginning on") }
        return current
    }

    var isScanning: Bool { radio.isScanning }
    var isAdvertising: Bool { radio.isAdvertising }

    func changes(for app: Int) -> Int { changes[app] ?? 0 }

    /// The radio state for an app (behaviours 1.3, 1.18).
    func state(for app: Int) -> ManagerState {
        if denied.contains(app) { return .unauthorized }
        if !isSwitchedOn { return .poweredOff }
        return isPlugged ? .poweredOn : .unsupported
    }

    // MARK: Systems

    private func begin() {
        var configuration = SystemConfiguration()
        configuration.deviceName = "Device \(number)"
        configuration.address = .staticRandom
        configuration.version = shape.version
        configuration.linger = shape.linger
        let new = BluetoothSystem(
            controllers: radio.open(isPluggedIn: isPlugged),
            loop: world.test.loop,
            random: RandomSource(seed: seed &+ (shape.keepsAddress ? 0 : systems)),
            configuration: configuration,
            bonds: storage,
            logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() }
        )
        systems += 1
        current = new
        new.apps.preservation.launcher = self
        radio.observe(new)
        new.observers.add(.managers) { [weak self] observation in
            guard case .appMoved(let phase) = observation.content else { return }
            self?.apps.first { $0.shape.identity == observation.subject.app }?.moved(to: phase)
        }
        // The setting belongs to the device and outlasts the system.
        if !isSwitchedOn { new.controllers.setPower(false, by: .controlCentre) }
        new.start()
        world.test.run(.milliseconds(1))
    }

    /// The system ends without warning and loses all its unsaved state.
    private func vanish() {
        system.apps.records.keeper.close()
        system.apps.preservation.launcher = nil
        radio.unplug()
        system.stop()
        launches = []
        world.test.run(.milliseconds(1))
    }

    func restart() {
        for app in apps { app.end(.deviceRestarted) }
        vanish()
        noteChange()
        world.test.run(.seconds(1))
        begin()
        model.systemBeganAnew()
        noteChange()
    }

    /// The service crashes and restarts; the processes of apps continue.
    func killService() {
        for app in apps { app.look() }
        vanish()
        begin()
        model.systemBeganAnew()
        noteChange()
        for app in apps { app.reopen() }
    }

    // MARK: Changes of the radio

    private func noteChange() {
        lastChange = world.now
        for app in shape.apps { changes[app.name.app, default: 0] += 1 }
    }

    /// Changes the radio. The effect on the model follows from each app's radio state before and after.
    private func change(_ body: () -> Void) {
        let before = shape.apps.map { state(for: $0.name.app) }
        let hadRadio = isSwitchedOn && isPlugged
        body()
        for (app, before) in zip(shape.apps, before) where before != state(for: app.name.app) {
            if state(for: app.name.app) == .poweredOn {
                model.radioReturned(for: app.name.app, forAll: !hadRadio)
            }
        }
        noteChange()
    }

    func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch) {
        if !isOn { model.switchedOff(by: powerSwitch) }
        change { isSwitchedOn = isOn }
        system.controllers.setPower(isOn, by: powerSwitch)
        comeUp()
    }

    func setPlugged(_ isPlugged: Bool) {
        guard isPlugged != self.isPlugged else { return }
        change { self.isPlugged = isPlugged }
        if isPlugged {
            radio.plugIn()
            comeUp()
        } else {
            radio.unplug()
        }
    }

    func setPermission(_ isGiven: Bool, _ app: WorldApp) {
        let number = app.shape.name.app
        change { if isGiven { denied.remove(number) } else { denied.insert(number) } }
        system.apps.permissions.set(isGiven ? .allowedAlways : .denied, for: app.shape.identity)
    }

    /// Waits until the controller works, so that no app is launched between two states of the radio.
    private func comeUp() {
        if isSwitchedOn, isPlugged { world.test.run(.milliseconds(500)) }
    }

    /// Moves the device out of its peers' range, which ends its links, or back into it.
    func setInRange(_ isInRange: Bool) {
        self.isInRange = isInRange
        radio.setInRange(isInRange)
    }

    // MARK: Launches

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) { launches.append((app, managers)) }

    /// Performs the launches that the system has requested, off its loop.
    func launchWanted() {
        let wanted = launches
        launches = []
        for (identity, managers) in wanted {
            guard let app = apps.first(where: { $0.shape.identity == identity }), app.process == nil else { continue }
            let kept = model.kept[app.shape.name.app] ?? [:]
            let isRight =
                managers.centrals.count == (kept[.central] == nil ? 0 : 1)
                && managers.peripherals.count == (kept[.peripheral] == nil ? 0 : 1)
            if !isRight || kept.isEmpty {
                world.fault("\(app.shape.name) was launched for \(managers), not \(kept.keys)")
            }
            app.launch(inBackground: true)
        }
    }

    /// Repairs everything, so that the device works.
    func mend() {
        setInRange(true)
        setPlugged(true)
        if !isSwitchedOn { setPower(true, by: .settings) }
        for app in apps where denied.contains(app.shape.name.app) { setPermission(true, app) }
    }

    /// Checks that the radio is not busy for long without a request, current or preserved.
    func checkRadio(after timeout: Duration) {
        let kept = model.kept.values.flatMap(\.values)
        let isAdvertised = apps.contains { $0.peripheral?.isAdvertising != nil } || kept.contains(where: \.mayAdvertise)
        let isLookedFor = apps.contains { $0.central?.scan != nil } || kept.contains(where: \.mayScan)
        func check(_ isBusy: Bool, _ since: inout Instant?, _ what: String) {
            guard isBusy else { return since = nil }
            since = since ?? world.now
            if let since, world.now - since >= timeout {
                world.fault("device \(number) \(what) and nobody wants it")
            }
        }
        check(isAdvertising && !isAdvertised, &advertisesForNobody, "advertises")
        check(isScanning && !isLookedFor, &scansForNobody, "scans")
    }

    /// Checks that apps have the current radio state, long after the last change.
    func checkStates(after timeout: Duration) {
        guard world.now - lastChange >= timeout else { return }
        for app in apps { app.checkState(state(for: app.shape.name.app)) }
    }
}
