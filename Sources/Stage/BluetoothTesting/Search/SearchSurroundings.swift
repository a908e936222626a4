import Accessories
import BluetoothSimulation
import Synchronization

/// The devices of a searched world: performs faults, and ends all of them.
final class SearchSurroundings: Sendable {
    private struct State {
        var away: Set<String> = []
        var unplugged: Set<String> = []
        var locked: Set<String> = []
    }

    private let world: TestWorld
    private let state = Mutex(State())

    init(_ world: TestWorld) {
        self.world = world
    }

    var devices: [SimulatedDevice] { world.simulation.devices }

    /// Whether a device answers requests for its attributes after a delay.
    var answersAreLate: Bool {
        devices.contains { if case .late = $0.answerFault { true } else { false } }
    }

    var places: [SearchPlace] {
        devices.map {
            let (installed, all) = ($0.installedApps, $0.launchedApps)
            return SearchPlace(device: $0.name, installed: installed, hasOthers: !Set(all).isSubset(of: installed))
        }
    }

    func perform(_ fault: SearchStep.Fault, _ device: String, app: String?, _ number: Int) {
        guard let device = devices.first(where: { $0.name == device }) else { return }
        if let app { return perform(fault, app, on: device) }
        switch fault {
        case .leaveRange: setAway(true, device)
        case .returnToRange: setAway(false, device)
        case .switchOff: device.setPower(false, by: .settings)
        case .disconnectAll: device.setPower(false, by: .controlCentre)
        case .switchOn: device.setPower(true, by: .settings)
        case .unplug: setPlugged(false, device)
        case .plugIn: setPlugged(true, device)
        case .restart, .restartLocked: restart(device, fault)
        case .unlock: unlock(device)
        default: device.perform(fault, number)
        }
    }

    private func perform(_ fault: SearchStep.Fault, _ name: String, on device: SimulatedDevice) {
        // Most faults of apps concern a process, which may not exist.
        let app = device.app(name).flatMap { $0.isRunning ? $0 : nil }
        switch fault {
        case .open where !state.withLock({ $0.locked.contains(device.name) }): device.open(name)
        case .leave: app?.leave()
        case .suspend, .crash: if app != nil { device.perform(fault, app: name) }
        case .removeFromMemory: app?.removeFromMemory()
        case .forceQuit: device.app(name)?.forceQuit()
        default: break
        }
    }

    private func setAway(_ isAway: Bool, _ device: SimulatedDevice) {
        let changes = state.withLock {
            isAway ? $0.away.insert(device.name).inserted : $0.away.remove(device.name) != nil
        }
        guard changes else { return }
        device.perform(isAway ? .leaveRange : .returnToRange)
    }

    private func setPlugged(_ isPlugged: Bool, _ device: SimulatedDevice) {
        let changes = state.withLock {
            isPlugged ? $0.unplugged.remove(device.name) != nil : $0.unplugged.insert(device.name).inserted
        }
        if changes { device.setController(isPluggedIn: isPlugged) }
    }

    private func restart(_ device: SimulatedDevice, _ fault: SearchStep.Fault) {
        state.withLock {
            // A restart plugs the controller in.
            $0.unplugged.remove(device.name)
            if fault == .restartLocked { $0.locked.insert(device.name) } else { $0.locked.remove(device.name) }
        }
        if fault == .restartLocked { device.perform(fault) } else { device.restart() }
    }

    private func unlock(_ device: SimulatedDevice) {
        if state.withLock({ $0.locked.remove(device.name) }) != nil { device.person.unlocks() }
    }

    /// Ends all faults: all devices work and are near each other, and all apps are in front.
    func repair() {
        for device in devices {
            setAway(false, device)
            device.losePackets(nil)
            if device.answerFault != nil { device.answerFault = nil }
            setPlugged(true, device)
            unlock(device)
            device.person.switchesAirplaneMode(false)
            device.setPower(true)
            for app in device.installedApps { device.open(app) }
        }
    }

    /// Ends all apps, as users do.
    func endApps() {
        for device in devices {
            for app in device.launchedApps { device.app(app)?.forceQuit() }
        }
    }
}

extension SimulatedApp {
    fileprivate var isRunning: Bool {
        if case .notRunning = phase { false } else { true }
    }
}

extension SimulatedDevice {
    /// Begins or ends a fault of the list that accessory files and command lines use.
    fileprivate func perform(_ fault: SearchStep.Fault, app: String = "", _ number: Int = 0) {
        guard let (fault, begins) = fault.deviceFault(number) else { return }
        if begins { begin(fault, ofApp: app) } else { end(fault, ofApp: app) }
    }
}
