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
        let sensor = belt.launch("sensor") { _ in StrapSensor(queue: DispatchQueue(label: "sensor")) }
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
final class StrapSensor: NSObject, CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager?
    private let rates = CBMutableCharacteristic(
        type: CBUUID(string: "2A37"),
        properties: [.notify],
        value: nil,
        permissions: []
    )

    init(queue: DispatchQueue) {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let place = CBMutableCharacteristic(
            type: CBUUID(string: "2A38"),
            properties: [.read],
            value: Data([1]),
            permissions: [.readable]
        )
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [rates, place]
        peripheral.add(service)
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Belt", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        _ = peripheral.updateValue(Data([0, 72]), for: rates, onSubscribedCentrals: nil)
        _ = peripheral.updateValue(Data([1, 0x2C, 0x01]), for: rates, onSubscribedCentrals: nil)
    }
}
