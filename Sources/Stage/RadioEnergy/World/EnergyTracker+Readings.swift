import BluetoothSimulation
import ServiceEvents

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
