import CoreBluetooth

/// A peripheral app that counts: while a central is subscribed, it notifies ten values a second, each one more than the
/// last.
final class Counter: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: all mutable state is accessed only on the manager's queue.
    private let service: CBUUID
    private let say: (String) -> Void
    private let characteristic: CBMutableCharacteristic
    private var manager: CBPeripheralManager?
    private var timer: (any DispatchSourceTimer)?
    private var next: UInt32 = 0

    init(service: CBUUID, characteristic: CBUUID, queue: DispatchQueue, say: @escaping (String) -> Void) {
        self.service = service
        self.say = say
        self.characteristic = CBMutableCharacteristic(
            type: characteristic,
            properties: .notify,
            value: nil,
            permissions: .readable
        )
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(100))
        timer.setEventHandler { [weak self] in self?.notify() }
        timer.resume()
        self.timer = timer
    }

    private func notify() {
        guard characteristic.subscribedCentrals?.isEmpty == false else { return }
        let data = withUnsafeBytes(of: next.littleEndian) { Data($0) }
        if manager?.updateValue(data, for: characteristic, onSubscribedCentrals: nil) == true { next &+= 1 }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        say("state \(peripheral.state.rawValue)")
        guard peripheral.state == .poweredOn else { return }
        let made = CBMutableService(type: service, primary: true)
        made.characteristics = [characteristic]
        peripheral.removeAllServices()
        peripheral.add(made)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [self.service]])
    }
}
