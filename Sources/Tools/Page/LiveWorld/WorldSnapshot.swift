import Accessories
import Administration
import AssignedNumbers
import BluetoothService
import BluetoothSimulation
import RadioEnergy

/// The state of a world as the page shows it.
struct WorldSnapshot: Encodable, Hashable {
    struct Device: Encodable, Hashable {
        let key: WorldAct.Device
        let name: String
        let x: Double
        let y: Double
        /// The titles of the services that the sensor advertises; nil for the phone.
        let advertised: [String]?
    }

    /// A kind of fault that the sensor can have, with the number that a fault of this kind has.
    struct PossibleFault: Encodable, Hashable {
        struct Number: Encodable, Hashable {
            let unit: String
            let usual: Double
            let least: Double
            let most: Double
        }

        let name: String
        /// The fault in words.
        let summary: String
        let number: Number?
    }

    struct Obstacle: Encodable, Hashable {
        let x: Double
        let y: Double
        let x2: Double
        let y2: Double
        let attenuation: Double
    }

    struct App: Encodable, Hashable {
        let name: String
        /// `foreground`, `background`, `suspended` or `notRunning`.
        let phase: String
        /// The last line that the app has shown, and its last value.
        let shows: String?
        let value: String?
    }

    /// The sensor's draw on its battery, on average since the beginning of the world.
    struct Power: Encodable, Hashable {
        let averageMicroamperes: Double
        let batteryMilliampereHours: Double
        /// The days that the battery lasts at this rate.
        let days: Double
    }

    /// The number of the world since the program began. A restart begins the next one.
    let generation: Int
    let seed: String
    /// The time of day at the beginning of the world, in seconds since the beginning of 1970.
    let start: Double
    let milliseconds: Int64
    /// The last instant of the history, and the number of acts between the present and that, which are repeated.
    let lastMilliseconds: Int64
    let actsAhead: Int
    /// The instant that the world is on its way to; nil if it is not.
    let target: Int64?
    let isRunning: Bool
    let speed: Double
    let devices: [Device]
    let walls: [Obstacle]
    let noise: Double?
    /// The faults that last, as they are written, such as `lossy=0.5`.
    let faults: [String]
    let possibleFaults: [PossibleFault]
    /// Whether the link is about to be dropped once.
    let isDropping: Bool
    let isConnected: Bool
    /// The encryption of the link, as in the status of the phone; nil without a link.
    let encryption: String?
    /// Whether the sensor advertises.
    let isAdvertising: Bool
    /// The strength of the sensor's signal at the phone in dBm, and whether it suffices.
    let rssi: Int
    let isInRange: Bool
    /// The distance in metres up to which the phone receives the sensor, without walls.
    let range: Double
    /// Nil before the first event of the radio.
    let power: Power?
    let app: App
    let acts: Int

    init(_ world: LiveWorld, _ pacer: WorldPacer, generation: Int, target: Int64? = nil) {
        self.target = target
        self.generation = generation
        // A number of JavaScript has 53 bits.
        seed = "\(world.seed)"
        (start, milliseconds) = (world.calendarStart, world.milliseconds)
        let record = world.record
        (lastMilliseconds, actsAhead) = (record.end, record.deeds.count - world.deeds.count)
        (isRunning, speed) = (pacer.isRunning, pacer.speed)
        devices = [
            Device(.phone, world.phone, advertised: nil),
            Device(
                .sensor,
                world.sensor.device,
                advertised: world.sensor.player.accessory.advertising.services.map { AssignedNumbers.title(of: $0) }
            ),
        ]
        walls = world.walls.map(Obstacle.init)
        noise = world.noise
        faults = world.begun.map(\.text)
        (possibleFaults, isDropping) = (LiveWorld.faults.map(PossibleFault.init), world.isDropping)
        let reception = world.sensor.device.reception(at: world.phone)
        (rssi, isInRange) = (Int(max(-999, reception.strength.rounded())), reception.isPossible)
        range = (world.sensor.device.range * 10).rounded() / 10
        let status = world.phone.withSystem { $0.status }
        (isConnected, encryption) = (!status.links.isEmpty, status.links.first?.encryption)
        isAdvertising = world.sensor.device.withSystem { !$0.status.advertising.isEmpty }
        power = Power(world.sensorEnergy.report)
        app = App(world, status)
        acts = world.deeds.count
    }
}

extension WorldSnapshot.Device {
    fileprivate init(_ key: WorldAct.Device, _ device: SimulatedDevice, advertised: [String]?) {
        (self.key, name, self.advertised) = (key, device.name, advertised)
        (x, y) = (device.position.x, device.position.y)
    }
}

extension WorldSnapshot.PossibleFault {
    fileprivate init(_ kind: DeviceFault.Kind) {
        (name, summary) = (kind.rawValue, kind.summary)
        number = kind.number.map {
            Number(unit: $0.unit, usual: $0.usual, least: $0.range.lowerBound, most: $0.range.upperBound)
        }
    }
}

extension WorldSnapshot.Power {
    fileprivate init?(_ report: EnergyReport) {
        guard report.usage.sending > .zero, report.averageMicroamperes > 0 else { return nil }
        averageMicroamperes = (report.averageMicroamperes * 100).rounded() / 100
        batteryMilliampereHours = LiveWorld.battery.microampereHours / 1_000
        days = report.days(on: LiveWorld.battery).rounded()
    }
}

extension WorldSnapshot.Obstacle {
    fileprivate init(_ wall: Wall) {
        (x, y, x2, y2) = (wall.start.x, wall.start.y, wall.end.x, wall.end.y)
        attenuation = wall.attenuation
    }
}

extension WorldSnapshot.App {
    fileprivate init(_ world: LiveWorld, _ status: SystemStatus) {
        name = LiveWorld.app
        phase = status.apps.first { $0.name == LiveWorld.app }?.phase ?? "notRunning"
        let isRunning = phase != "notRunning"
        shows = isRunning ? world.screen.lines.last : nil
        value = isRunning ? world.phone.app(LiveWorld.app, as: HeartRateWatch.self)?.value : nil
    }
}
