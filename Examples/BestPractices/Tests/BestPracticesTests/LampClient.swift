#if canImport(BluetoothTesting)
    import BestPractices
    import CoreBluetooth
    import Foundation

    /// Follows the state of a lamp: by notifications if it has them, else by a read each second.
    final class LampClient: NSObject {
        private let queue = DispatchQueue(label: "client")
        private let report: (Data) -> Void
        private var manager: CBCentralManager?
        private var lamp: CBPeripheral?

        init(report: @escaping (Data) -> Void) {
            self.report = report
            super.init()
            manager = CBCentralManager(delegate: self, queue: queue)
        }
    }

    extension LampClient: CBCentralManagerDelegate {
        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            guard central.state == .poweredOn else { return }
            central.scanForPeripherals(withServices: [Lamp.service])
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            central.stopScan()
            lamp = peripheral
            peripheral.delegate = self
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            peripheral.discoverServices([Lamp.service])
        }
    }

    extension LampClient: CBPeripheralDelegate {
        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([Lamp.light], for: service) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didDiscoverCharacteristicsFor service: CBService,
            error: (any Error)?
        ) {
            guard let light = service.characteristics?.first else { return }
            peripheral.readValue(for: light)
            if light.properties.contains(.notify) { peripheral.setNotifyValue(true, for: light) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateValueFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            guard error == nil, let value = characteristic.value else { return }
            report(value)
            guard !characteristic.properties.contains(.notify) else { return }
            queue.asyncAfter(deadline: .now() + 1) { peripheral.readValue(for: characteristic) }
        }
    }
#endif
