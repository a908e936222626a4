import CoreBluetooth
import Dispatch

/// A modest central app: it subscribes to a ``Counter``, sends the service a query ten times a second, and reports when
/// SIGTERM ends it.
///
/// It reports gaps in the values with their time, unless the link was lost in between, and how long its queries took.
final class Follower: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: all mutable state is accessed only on the manager's queue.
    private let service: CBUUID
    private let characteristic: CBUUID
    private let say: (String) -> Void
    private var manager: CBCentralManager?
    private var counter: CBPeripheral?
    private var timer: (any DispatchSourceTimer)?
    private var ending: (any DispatchSourceSignal)?
    private var last: UInt32?
    private var values = 0
    private var disconnections = 0
    /// The number of queries by duration in whole milliseconds, up to a second.
    private var waits = [Int](repeating: 0, count: 1_001)

    init(service: CBUUID, characteristic: CBUUID, queue: DispatchQueue, say: @escaping (String) -> Void) {
        self.service = service
        self.characteristic = characteristic
        self.say = say
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(.random(in: 0..<100)), repeating: .milliseconds(100))
        timer.setEventHandler { [weak self] in self?.ask() }
        timer.resume()
        self.timer = timer
        reportAtEnd(on: queue)
    }

    private func reportAtEnd(on queue: DispatchQueue) {
        signal(SIGTERM, SIG_IGN)
        let ending = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
        ending.setEventHandler { [weak self] in
            self?.report()
            exit(0)
        }
        ending.resume()
        self.ending = ending
    }

    private func report() {
        let waits = self.waits.enumerated().filter { $0.element > 0 }.map { "\($0.offset):\($0.element)" }
        say("report values=\(values) disconnections=\(disconnections) waits=\(waits.joined(separator: ","))")
    }

    private func ask() {
        guard let manager else { return }
        let start = ContinuousClock.now
        _ = manager.retrievePeripherals(withIdentifiers: [counter?.identifier ?? UUID()])
        let time = ContinuousClock.now - start
        let milliseconds = Int(time / .milliseconds(1))
        waits[min(milliseconds, 1_000)] += 1
        if milliseconds > 100 { say("waited \(milliseconds) ms at \(Date().timeIntervalSince1970)") }
    }

    private func seek() {
        counter = nil
        last = nil
        // A peripheral that is connected for another app does not advertise.
        if let connected = manager?.retrieveConnectedPeripherals(withServices: [service]).first {
            return connect(connected)
        }
        manager?.scanForPeripherals(withServices: [service])
    }

    private func connect(_ peripheral: CBPeripheral) {
        counter = peripheral
        peripheral.delegate = self
        manager?.stopScan()
        manager?.connect(peripheral)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        say("state \(central.state.rawValue)")
        if central.state == .poweredOn { seek() }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if counter == nil { connect(peripheral) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        last = nil
        peripheral.discoverServices([service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        disconnections += 1
        last = nil
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard error == nil, let found = peripheral.services, !found.isEmpty else {
            return peripheral.state == .connected ? peripheral.discoverServices([service]) : ()
        }
        found.forEach { peripheral.discoverCharacteristics([characteristic], for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        service.characteristics?.forEach { peripheral.setNotifyValue(true, for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        last = nil
        peripheral.discoverServices([service])
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let data = characteristic.value, data.count == 4 else { return }
        let value = data.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        values += 1
        if let last, value != last &+ 1 { say("gap \(last) \(value) at \(Date().timeIntervalSince1970)") }
        last = value
    }
}
