import AppAdvice
import BluetoothSimulation
import EventLoops
import ServiceEvents
import Synchronization

/// The ledger of a simulated device's battery, by app and purpose. It is exact.
package final class DeviceEnergy: EnergySource, Sendable {
    private let profile: RadioProfile
    private let loop: any EventLoop
    private let tracker: Mutex<EnergyTracker>
    private weak let device: SimulatedDevice?

    /// Follows a device that has just been added to its world, before time passes.
    package init(of device: SimulatedDevice, _ profile: RadioProfile) {
        let loop = device.world.loop
        (self.profile, self.loop, self.device) = (profile, loop, device)
        tracker = Mutex(EnergyTracker(from: [:], of: 0, at: loop.waitFor { loop.now }))
        device.watchRadio(EnergyTracker.kinds) { [weak self] occasion, reading in
            self?.tracker.withLock { $0.take(reading, at: occasion) }
        }
    }

    /// The charge so far. From any thread.
    package var report: EnergyReport {
        loop.waitFor { [self] in
            let reading = device?.radioReading
            return tracker.withLock { tracker in
                if let reading { tracker.settle(reading) }
                return tracker.report(profile, at: loop.now)
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
