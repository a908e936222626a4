import AppAdvice
import BluetoothSimulation
import EventLoops
import ServiceEvents
import Synchronization

/// The ledger of a simulated device's battery, by app and purpose. It is exact.
package final class DeviceEnergy: EnergySource, Sendable {
    private struct State {
        var tracker: EnergyTracker
        weak var device: SimulatedDevice?
    }

    private let profile: RadioProfile
    private let loop: any EventLoop
    private let state: Mutex<State>

    /// Follows a device that has just been added to its world, before time passes.
    package init(of device: SimulatedDevice, _ profile: RadioProfile) {
        let loop = device.world.loop
        (self.profile, self.loop) = (profile, loop)
        let tracker = EnergyTracker(from: [:], of: 0, at: loop.waitFor { loop.now })
        state = Mutex(State(tracker: tracker, device: device))
        device.watchRadio(EnergyTracker.kinds) { [weak self] occasion, reading in
            self?.state.withLock { $0.tracker.take(reading, at: occasion) }
        }
    }

    /// The charge so far. From any thread.
    package var report: EnergyReport {
        let device = state.withLock { $0.device }
        return loop.waitFor { [self] in
            let reading = device?.radioReading
            return state.withLock { state in
                if let reading { state.tracker.settle(reading) }
                return state.tracker.report(profile, at: loop.now)
            }
        }
    }

    /// See ``ServiceEvents/EnergySource/status``.
    package var status: EnergyStatus { EnergyStatus(report) }
}

extension EnergyTracker {
    /// Takes in a reading, and the occasion for it.
    package mutating func take(_ reading: RadioReading?, at occasion: RadioOccasion) {
        switch occasion {
        case .event(let observation):
            if let reading { settle(reading, before: observation) }
            accept(observation)
        case .linkRetires(let link):
            if let reading { settle(reading) }
            retire(link)
        case .controllerEnds: if let reading { settle(reading) }
        }
    }

    /// Takes in a reading.
    package mutating func settle(_ reading: RadioReading, before observation: Observation? = nil) {
        settle(reading.times, of: reading.controller, powers: reading.powers, before: observation)
    }
}
