import BluetoothService
import BluetoothSimulation
import EventLoops
import RadioEnergy
import Synchronization
import Testing

/// The energy of a world's devices, from when a test asks for it.
final class WorldEnergy: Sendable {
    private struct State {
        var profile: RadioProfile?
        var trackers: [String: EnergyTracker] = [:]
    }

    private let state = Mutex(State())

    /// The profile that the charges follow; nil while nothing is tracked.
    var profile: RadioProfile? { state.withLock { $0.profile } }

    /// Follows devices from now on, or only changes the profile. Returns whether there are devices to follow now.
    func begin(_ profile: RadioProfile) -> Bool {
        state.withLock { state in
            defer { state.profile = profile }
            return state.profile == nil
        }
    }

    /// Follows a device. On the loop, so that nothing happens meanwhile.
    ///
    /// - Parameter isNew: Whether the device has been added just now, so that all that its radio did counts.
    func add(_ device: SimulatedDevice, isNew: Bool) {
        let reading = device.watchRadio(EnergyTracker.kinds) { [weak self, name = device.name] occasion, reading in
            self?.change(name) { $0.take(reading, at: occasion) }
        }
        let (times, controller) = isNew ? ([:], 0) : (reading?.times ?? [:], reading?.controller ?? 0)
        let tracker = EnergyTracker(from: times, of: controller, at: device.world.loop.now)
        state.withLock { $0.trackers[device.name] = tracker }
    }

    /// Returns the report about a device; nil if it is not followed.
    func report(of device: String, _ reading: RadioReading?, at now: Instant) -> EnergyReport? {
        if let reading { change(device) { $0.settle(reading) } }
        return state.withLock { state in
            guard let profile = state.profile else { return nil }
            return state.trackers[device]?.report(profile, at: now)
        }
    }

    private func change(_ device: String, _ body: (inout EnergyTracker) -> Void) {
        state.withLock { state in
            // Moved out of the table meanwhile, so that nothing is copied.
            guard var tracker = state.trackers.removeValue(forKey: device) else { return }
            body(&tracker)
            state.trackers[device] = tracker
        }
    }
}

/// The time to which an energy budget applies.
public enum EnergyPeriod: Sendable {
    case hour
    case day

    var duration: Duration { self == .hour ? .seconds(3_600) : .seconds(86_400) }
    var words: String { self == .hour ? "per hour" : "per day" }
}

extension TestWorld {
    /// Follows from now on what the radios of all devices do, and for which app.
    ///
    /// Call it before apps are launched: what they did before belongs to no app. Without this call, nothing is
    /// followed.
    ///
    /// - Parameter profile: The currents of the devices' radios.
    public func trackEnergy(_ profile: RadioProfile = .nrf52832) {
        guard energy.begin(profile) else { return }
        for device in simulation.devices { follow(device, isNew: false) }
    }

    func followEnergy(of device: SimulatedDevice) {
        if energy.profile != nil { follow(device, isNew: true) }
    }

    private func follow(_ device: SimulatedDevice, isNew: Bool) {
        simulation.loop.waitFor { [energy] in energy.add(device, isNew: isNew) }
    }

    /// Returns what a device's radio has used since ``trackEnergy(_:)``, by app and purpose. It is exact.
    ///
    /// - Parameter device: The name of the device.
    /// - Returns: The report; nil if nothing is tracked, or the world has no such device.
    public func energy(of device: String) -> EnergyReport? {
        guard let found = simulation.devices.first(where: { $0.name == device }) else { return nil }
        let (energy, loop) = (energy, simulation.loop)
        return loop.waitFor { energy.report(of: device, found.radioReading, at: loop.now) }
    }

    /// Expects that an app, or a device as a whole, has used less than a budget.
    ///
    /// The report of a failure has each purpose with its charge.
    ///
    /// - Parameters:
    ///   - device: The name of the device.
    ///   - app: The name of the app; nil for the device with its sleep current.
    ///   - budget: The charge to stay below.
    ///   - period: The time that the budget is for; nil for all the time since ``trackEnergy(_:)``.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether less was used.
    @discardableResult
    public func expectEnergy(
        of device: String,
        app: String? = nil,
        below budget: Charge,
        per period: EnergyPeriod? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        guard let energy = energy(of: device) else {
            let text = "the energy of \(device) is unknown: call trackEnergy() first, and check the name"
            report(WorldIssue(text: text, place: sourceLocation))
            return false
        }
        let used = app.map { energy.charge(of: $0) } ?? energy.total
        let compared = period.map { used.scaled(from: energy.elapsed, to: $0.duration) } ?? used
        guard compared >= budget else { return true }
        let (what, time) = (app.map { "\($0) on \(device)" } ?? device, period.map { " \($0.words)" } ?? "")
        let text = "\(what) uses \(compared)\(time), expected less than \(budget)\(time)\n\(energy)"
        report(WorldIssue(text: text, place: sourceLocation))
        return false
    }
}
