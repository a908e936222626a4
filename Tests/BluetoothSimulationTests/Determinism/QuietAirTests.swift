import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Dispatch
import EventLoops
import Foundation
import TestBasics
import Testing

/// Worlds whose links have nothing to send for most of the time. A capture of the air has all frames carried out one by
/// one; without it, quiet connection events pass at once.
@Suite struct QuietAirTests {
    @Test("a world has the same packets and air times whether its air is captured or not", arguments: 1...6)
    func aCaptureOfTheAirChangesNothing(seed: UInt64) {
        let (quiet, captured) = (QuietRoom(seed: seed, capturesAir: false), QuietRoom(seed: seed, capturesAir: true))
        for _ in 0..<4 {
            #expect(quiet.perform() == captured.perform())
        }
        #expect(quiet.packets == captured.packets)
        #expect(quiet.valueCount == captured.valueCount)
        #expect(quiet.valueCount > 20)
    }
}

/// A phone with sensors, each of which sends a value about every second.
private final class QuietRoom {
    private let world: SimulatedWorld
    private let random: RandomSource
    private let devices: [SimulatedDevice]
    private let sensors: [QuietSensor]
    private let watcher: Watcher
    private let captures: [Notes<[UInt8]>]

    init(seed: UInt64, capturesAir: Bool) {
        random = RandomSource(seed: seed)
        let world = SimulatedWorld(seed: seed)
        self.world = world
        if capturesAir { world.captureAir { _ in } }
        let count = 1 + Int(seed % 3)
        let captures = (0...count).map { _ in Notes<[UInt8]>() }
        self.captures = captures
        devices = (0...count).map { number in
            world.addDevice(
                named: number == 0 ? "Phone" : "Sensor \(number)",
                at: Position(x: Double(number)),
                options: number == 0 ? DeviceOptions() : .accessory
            ) { captures[number].add($0) }
        }
        sensors = devices.dropFirst().map { $0.launch("sensor") { _ in QuietSensor() } }
        watcher = devices[0].launch("watcher") { _ in Watcher() }
        world.run(for: .seconds(10))
    }

    var packets: [[[UInt8]]] { captures.map(\.all) }
    var valueCount: Int { watcher.values.all.count }

    /// Sends values for some seconds. Returns the devices' use of the radio, as text.
    func perform() -> [String] {
        for value in 0..<8 {
            for sensor in sensors { sensor.send(UInt8(value)) }
            world.run(for: .microseconds(900_000 + Int64(random.below(200_000))))
        }
        return devices.map { "\($0.airTime)" }
    }
}

private let service = CBUUID(string: "180D")
private let measurement = CBUUID(string: "2A37")

private final class QuietSensor: PeripheralStandIn, @unchecked Sendable {
    private let queue = DispatchQueue(label: "sensor")
    private let characteristic = CBMutableCharacteristic(measurement, .notify)

    init() { super.init(service: service, [characteristic], on: queue) }

    func send(_ value: UInt8) { queue.sync { send([value], of: characteristic) } }
}

/// Subscribes to every sensor that it finds.
private final class Watcher: CentralStandIn, @unchecked Sendable {
    let values = Notes<[UInt8]>()
    // Safe: only touched on the manager's queue.
    private var peripherals: [CBPeripheral] = []

    init() { super.init(seeking: [service]) }

    override func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard !peripherals.contains(peripheral) else { return }
        peripherals.append(peripheral)
        peripheral.delegate = self
        central.connect(peripheral)
        if peripherals.count == 3 { central.stopScan() }
    }

    override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        central.stopScan()
        super.centralManager(central, didConnect: peripheral)
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        peripheral.setNotifyValue(true, for: characteristic)
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        values.add(Array(characteristic.value ?? Data()))
    }
}
