import CoreBluetooth
import Foundation
import SensorRecords
import Synchronization

/// The state that a sensor keeps in its flash: which records it has, and which it has sent.
///
/// The records themselves follow from their numbers, so they need no space. Written before it has an effect.
struct Flash: Sendable {
    /// The maximum number of records that are not acknowledged. Then the sensor measures no more.
    static let maximumRecords = 100_000

    private let path: String
    /// The numbers of the last record that was made, sent and acknowledged.
    private(set) var made: UInt32 = 0
    private(set) var sent: UInt32 = 0
    private(set) var acknowledged: UInt32 = 0
    /// The time of the first record and of one period, in microseconds.
    private(set) var start: UInt64
    let period: UInt64

    init(path: String, period: UInt64) {
        (self.path, self.period, start) = (path, period, microseconds())
        guard let octets = FileManager.default.contents(atPath: path), octets.count == 20 else { return }
        let bytes = [UInt8](octets)
        made = UInt32(SensorRecord.integer(bytes[0..<4]))
        sent = UInt32(SensorRecord.integer(bytes[4..<8]))
        acknowledged = UInt32(SensorRecord.integer(bytes[8..<12]))
        start = SensorRecord.integer(bytes[12..<20])
    }

    private func save() {
        let numbers = [made, sent, acknowledged].flatMap { SensorRecord.octets(UInt64($0), 4) }
        do {
            try Data(numbers + SensorRecord.octets(start, 8)).write(to: URL(filePath: path), options: .atomic)
        } catch {
            say("the flash failed: \(error)")
            exit(1)
        }
    }

    /// Makes the records that are due, up to a number.
    mutating func measure(until last: UInt32) {
        let due = UInt32(clamping: (microseconds() - start) / period)
        let target = min(due, last, acknowledged + UInt32(Self.maximumRecords))
        guard target > made else { return }
        made = target
        save()
    }

    /// Notes that records up to a number are about to be sent.
    mutating func markSent(_ number: UInt32) {
        guard number > sent else { return }
        sent = number
        save()
    }

    mutating func acknowledge(_ number: UInt32) {
        guard number > acknowledged, number <= made else { return }
        acknowledged = number
        save()
    }

    func record(_ number: UInt32) -> SensorRecord {
        SensorRecord(
            sequence: number,
            isRepeated: number <= sent,
            time: start + UInt64(number) * period,
            value: UInt16(truncatingIfNeeded: number &* 7)
        )
    }
}

/// A sensor that keeps its records until a gateway has acknowledged them.
final class Sensor: NSObject, CBPeripheralManagerDelegate, Sendable {
    /// The number of records that are marked as sent at once, so that the flash is written less often.
    private static let burst: UInt32 = 32

    private struct State: Sendable {
        var flash: Flash
        var manager: CBPeripheralManager?
        var records: CBMutableCharacteristic?
        /// The gateways that have subscribed. The first one gets the records, and the others wait for its end.
        var gateways: [CBCentral] = []
        var cursor: UInt32 = 0
        /// Whether the queue of the system is full, until it says that there is room again.
        var isFull = false
        /// The records up to this number were sent on an earlier connection.
        var repeated: UInt32 = 0
    }

    private let name: String
    private let last: UInt32
    private let queue = DispatchQueue(label: "sensor")
    private let state: Mutex<State>

    init(name: String, last: UInt32, flash: Flash) {
        (self.name, self.last) = (name, last)
        state = Mutex(State(flash: flash))
        super.init()
    }

    func start() {
        let manager = CBPeripheralManager(delegate: self, queue: queue)
        state.withLock { $0.manager = manager }
        tick()
    }

    private func tick() {
        let isOver = state.withLock { state in
            state.flash.measure(until: last)
            send(&state)
            return state.flash.acknowledged >= last
        }
        if isOver {
            say("all \(last) records are acknowledged")
            exit(0)
        }
        queue.asyncAfter(deadline: .now() + 0.01) { [self] in tick() }
    }

    /// Sends all records that are not acknowledged to the first gateway.
    private func begin(_ state: inout State) {
        state.cursor = state.flash.acknowledged
        state.repeated = state.flash.sent
        send(&state)
    }

    private func send(_ state: inout State) {
        guard let gateway = state.gateways.first, let manager = state.manager, let characteristic = state.records else {
            return
        }
        while state.cursor < state.flash.made, !state.isFull {
            let next = state.cursor + 1
            var record = state.flash.record(next)
            record.isRepeated = next <= state.repeated
            if next > state.flash.sent { state.flash.markSent(min(state.cursor + Self.burst, state.flash.made)) }
            guard manager.updateValue(record.octets, for: characteristic, onSubscribedCentrals: [gateway]) else {
                return state.isFull = true
            }
            state.cursor = next
        }
    }

    private func advertise(_ manager: CBPeripheralManager) {
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name,
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: SensorService.uuid)],
        ])
    }

    // MARK: Delegate

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        func made(_ uuid: String, _ properties: CBCharacteristicProperties, _ permissions: CBAttributePermissions)
            -> CBMutableCharacteristic
        {
            CBMutableCharacteristic(
                type: CBUUID(string: uuid),
                properties: properties,
                value: uuid == SensorService.name ? Data(name.utf8) : nil,
                permissions: permissions
            )
        }
        let records = made(SensorService.records, .notify, [])
        let acknowledged = made(SensorService.acknowledged, [.read, .write], [.readable, .writeable])
        let service = CBMutableService(type: CBUUID(string: SensorService.uuid), primary: true)
        service.characteristics = [records, acknowledged, made(SensorService.name, .read, .readable)]
        state.withLock { ($0.records, $0.gateways, $0.isFull) = (records, [], false) }
        peripheral.removeAllServices()
        peripheral.add(service)
        advertise(peripheral)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        peripheral.stopAdvertising()
        state.withLock { state in
            state.gateways.append(central)
            if state.gateways.count == 1 { begin(&state) }
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        let isAlone = state.withLock { state in
            let isFirst = state.gateways.first?.identifier == central.identifier
            state.gateways.removeAll { $0.identifier == central.identifier }
            if isFirst { begin(&state) }
            return state.gateways.isEmpty
        }
        if isAlone { advertise(peripheral) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        state.withLock { state in
            state.isFull = false
            send(&state)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let number = state.withLock { $0.flash.acknowledged }
        request.value = Data(SensorRecord.octets(UInt64(number), 4))
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests {
            let octets = [UInt8](request.value ?? Data())
            guard octets.count == 4 else { return peripheral.respond(to: requests[0], withResult: .invalidPdu) }
            state.withLock { $0.flash.acknowledge(UInt32(SensorRecord.integer(octets))) }
        }
        peripheral.respond(to: requests[0], withResult: .success)
    }
}

/// Prints a line at once.
func say(_ text: String) {
    print(text)
    fflush(nil)
}

@main enum Program {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let period = UInt64(arguments[3]), period > 0, let last = UInt32(arguments[4])
        else {
            say("usage: sensor NAME FLASH PERIOD_IN_MICROSECONDS RECORDS, with the controller in HARALD_CONTROLLER")
            exit(64)
        }
        let sensor = Sensor(name: arguments[1], last: last, flash: Flash(path: arguments[2], period: period))
        sensor.start()
        withExtendedLifetime(sensor) { RunLoop.main.run() }
    }
}
