import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import HealthThermometer
import TestBasics
import Testing

@Suite struct ThermometerTests {
    private let world = SimulatedWorld(seed: 1)
    private let heard = Notes<Thermometer.Report>()
    private let answers = Notes<TemperatureReader.Answer>()

    @Test("The thermometer indicates its measurements, and accepts a new interval only from a paired central")
    func measuresAndTakesAnInterval() {
        let device = world.addDevice(named: "Thermometer")
        let thermometer = device.launch("thermometer") { [heard] _ in
            let queue = DispatchQueue(label: "thermometer")
            return Thermometer(name: "Kitchen", queue: queue, celsius: { 36.64 }, report: heard.add)
        }
        let phone = world.addDevice(named: "Phone")
        let reader = phone.launch("reader") { [answers] _ in
            TemperatureReader(intervals: [5, 0], answer: answers.add)
        }
        // The person declines the pairing that the first write requires.
        world.run(for: .seconds(60)) { [answers] in answers.has(.isWritten(false)) }
        #expect(heard.all == [.advertising, .watched(by: 1)])
        #expect(answers.all.contains(.measured(Data([0x00, 0x50, 0x0E, 0x00, 0xFE]))))

        phone.person.behaves(.agrees(lookingAt: [device]))
        device.person.behaves(.agrees(lookingAt: [phone]))
        world.run(for: .seconds(60)) { [answers] in answers.has(.read(Data([5, 0]))) }
        withExtendedLifetime((thermometer, reader)) {
            #expect(heard.all == [.advertising, .watched(by: 1), .interval(seconds: 5)])
            // An interval of 0 s is out of range.
            #expect(answers.all.suffix(3) == [.isWritten(true), .isWritten(false), .read(Data([5, 0]))])
        }
    }
}

/// A central that subscribes to the temperature, writes an interval of 5 s until it is accepted, then 0 s, and then
/// reads the current interval.
final class TemperatureReader: CentralStandIn, @unchecked Sendable {
    enum Answer: Equatable {
        case measured(Data)
        case isWritten(Bool)
        case read(Data)
    }

    // Safe: used on the manager's queue only, where the callbacks arrive.
    private var intervals: [UInt8]
    private let answer: (Answer) -> Void

    init(intervals: [UInt8], answer: @escaping (Answer) -> Void) {
        self.intervals = intervals
        self.answer = answer
        super.init(seeking: [Thermometer.service])
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        if characteristic.uuid == Thermometer.measurement { peripheral.setNotifyValue(true, for: characteristic) }
        if characteristic.uuid == Thermometer.interval { write(to: characteristic, of: peripheral) }
    }

    private func write(to characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        guard let interval = intervals.first else { return peripheral.readValue(for: characteristic) }
        peripheral.writeValue(Data([interval, 0]), for: characteristic, type: .withResponse)
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        answer(.isWritten(error == nil))
        if error == nil || intervals == [0] { intervals.removeFirst() }
        write(to: characteristic, of: peripheral)
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let value = characteristic.value else { return }
        answer(characteristic.uuid == Thermometer.measurement ? .measured(value) : .read(value))
    }
}
