import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import HeartRate
import TestBasics
import Testing

@Suite struct HeartRateTests {
    private let world = SimulatedWorld(seed: 1)
    private let heard = Notes<HeartRateMonitor.Report>()

    @Test("The monitor finds the sensor, reports its body location, and parses both formats of a rate")
    func followsRates() {
        let belt = world.addDevice(named: "Belt")
        let sensor = belt.launch("sensor") { _ in StrapSensor() }
        let phone = world.addDevice(named: "Phone")
        let monitor = phone.launch("monitor") { [heard] _ in
            HeartRateMonitor(queue: DispatchQueue(label: "monitor"), report: heard.add)
        }
        world.run(for: .seconds(20)) { [heard] in heard.has(.heartRate(300)) && heard.has(.sensorLocation("chest")) }
        withExtendedLifetime((sensor, monitor)) {
            #expect(heard.all.prefix(3) == [.searching, .found(name: "Belt"), .connected])
            #expect(heard.has(.sensorLocation("chest")))
            #expect(
                heard.all.filter { if case .heartRate = $0 { true } else { false } } == [
                    .heartRate(72), .heartRate(300),
                ]
            )
        }
    }
}

/// The peripheral for the monitor: it sends each subscriber one rate of one octet and one of two.
final class StrapSensor: PeripheralStandIn, @unchecked Sendable {
    private let rates = CBMutableCharacteristic(CBUUID(string: "2A37"), .notify)

    init() {
        let place = CBMutableCharacteristic(CBUUID(string: "2A38"), .read, value: Data([1]))
        super.init("Belt", service: CBUUID(string: "180D"), [rates, place])
    }

    override func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        send([0, 72], of: rates)
        send([1, 0x2C, 0x01], of: rates)
    }
}
