#if canImport(BluetoothTesting)
    import Accessories
    import BestPractices
    import BluetoothTesting
    import CoreBluetooth
    import Foundation
    import Synchronization
    import Testing

    /// Two minutes with each app, in a world of its own.
    @Suite(.world) struct BestPracticesTests {
        @Test("the advisor names the rule that the worse app breaks, and the line", arguments: Practice.all)
        func worse(_ practice: Practice) async {
            let run = await Run(practice, isBetter: false)
            run.note(practice, isBetter: false)
            #expect(Set(run.advice.map(\.rule)) == [practice.rule])
            // What it is about began in the app itself, or in a step that all apps share.
            let files = [practice.name, "RoomThermometer", "Lamp"]
            #expect(run.advice.allSatisfy { advice in files.contains { advice.description.contains("(\($0).swift:") } })
        }

        @Test("the advisor is silent about the better app", arguments: Practice.all)
        func better(_ practice: Practice) async {
            let run = await Run(practice, isBetter: true)
            #expect(run.advice.map(\.description) == [])
            run.note(practice, isBetter: true)
        }
    }

    /// Two minutes of an app.
    struct Run {
        static let time = Duration.seconds(120)
        /// The time after which the user shares the lamp.
        private static let beforeSharing = Duration.seconds(10)

        /// The advice for the app.
        let advice: [Advice]
        /// The time from the launch, or from the moment the user shares the lamp, to the first value.
        let timeToData: Duration?
        /// The charge of the app on a device with an nRF52832, in microampere hours per hour.
        let charge: Double

        /// Runs an app of a pair.
        init(_ practice: Practice, isBetter: Bool) async {
            let values = Values()
            world.trackEnergy(.nrf52832)
            switch practice.apps {
            case .thermometer(let worse, let better):
                world.addAccessory(Self.room)
                await Self.run(isBetter ? better : worse, values)
            case .nothingInRange(let worse, let better): await Self.run(isBetter ? better : worse, values)
            case .lamp(let worse, let better): await Self.run(isBetter ? better : worse, values)
            }
            advice = world.advice.filter { $0.device == "Device" }
            timeToData = values.first
            let charge = world.energy(of: "Device")?.charge(of: "app") ?? .zero
            self.charge = charge.scaled(from: Self.time, to: .seconds(3_600)).microampereHours
        }

        /// Appends the numbers to the file of `HARALD_PRACTICES`, from which practices.py makes the table.
        func note(_ practice: Practice, isBetter: Bool) {
            guard let path = ProcessInfo.processInfo.environment["HARALD_PRACTICES"], let file = fopen(path, "a") else {
                return
            }
            defer { fclose(file) }
            let milliseconds = timeToData.map { "\(Int(($0 / .milliseconds(1)).rounded()))" } ?? "-"
            let app = isBetter ? "better" : "worse"
            let line = "\(practice.rule.number) \(practice.name) \(app) \(Int(charge.rounded())) \(milliseconds)\n"
            // Appended as a whole, since other cases append too.
            fputs(line, file)
        }

        private static func run(_ app: RoomThermometer.Type, _ values: Values) async {
            let device = world.addDevice(named: "Device", at: Position(x: 1))
            let start = world.simulation.now
            let simulation = world.simulation
            device.launch("app") { _ in
                app.init(queue: DispatchQueue(label: "app")) { _ in values.note(simulation.now - start) }
            }
            await world.run(for: time)
        }

        private static func run(_ app: Lamp.Type, _ values: Values) async {
            let device = world.addDevice(named: "Device", at: Position(x: 1))
            let phone = world.addDevice(named: "Phone")
            let simulation = world.simulation
            let lamp = device.launch("app") { _ in app.init(queue: DispatchQueue(label: "app")) }
            let start = simulation.now + beforeSharing
            phone.launch("client") { _ in LampClient { _ in values.note(simulation.now - start) } }
            await world.run(for: beforeSharing)
            lamp.share()
            for _ in 0..<11 {
                await world.run(for: .seconds(10))
                lamp.flip()
            }
        }

        /// A thermometer that measures each second, with a battery and some information.
        private static var room: Accessory {
            get {
                let temperatures = [2_150, 2_151, 2_149].map {
                    #"{"after": 1, "value": {"int16": \#($0)}}"#
                }
                let json = """
                    {
                      "format": 1,
                      "name": "Room",
                      "advertising": {"services": ["Environmental Sensing"]},
                      "services": [
                        {"uuid": "Device Information", "characteristics": [
                          {"uuid": "Manufacturer Name String", "properties": ["read"], "value": {"text": "Rooms"}},
                          {"uuid": "Model Number String", "properties": ["read"], "value": {"text": "One"}},
                          {"uuid": "Serial Number String", "properties": ["read"], "value": {"text": "17"}}
                        ]},
                        {"uuid": "Battery", "characteristics": [
                          {"uuid": "Battery Level", "properties": ["read", "notify"], "value": {"uint8": 90}}
                        ]},
                        {"uuid": "Environmental Sensing", "characteristics": [
                          {"uuid": "Temperature", "properties": ["read", "notify"], "value": {"int16": 2150},
                           "changes": [\(temperatures.joined(separator: ", "))], "repeat": true},
                          {"uuid": "Humidity", "properties": ["read", "notify"], "value": {"uint16": 5000}},
                          {"uuid": "Pressure", "properties": ["read"], "value": {"uint32": 1013000}}
                        ]}
                      ]
                    }
                    """
                do {
                    return try Accessory(json: json)
                } catch {
                    preconditionFailure("the thermometer is invalid: \(error)")
                }
            }
        }
    }

    /// The time of the first value, from whichever queue.
    final class Values: Sendable {
        private let time = Mutex<Duration?>(nil)

        var first: Duration? { time.withLock { $0 } }

        func note(_ duration: Duration) { time.withLock { $0 = $0 ?? duration } }
    }
#endif
