import CoreBluetooth
import XCTest

// A client in the Swift 5 language mode, in the style of that time: one object for both roles, `Error?` without `any`,
// globals, closures, a peripheral in an implicitly unwrapped property.

let transferServiceUUID = CBUUID(string: "E20A39F4-73F5-4BC4-A12F-17D1AD07A961")
var sharedCentral: CBCentralManager?

class BluetoothService: NSObject {
    var manager: CBCentralManager!
    var peripheralManager: CBPeripheralManager!
    var peripheral: CBPeripheral!
    var characteristic: CBCharacteristic?
    var onValue: ((Data) -> Void)?
    fileprivate var queue = DispatchQueue(label: "bluetooth", qos: .userInitiated)

    func start() {
        manager = CBCentralManager(
            delegate: self,
            queue: queue,
            options: [CBCentralManagerOptionShowPowerAlertKey: true]
        )
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
        sharedCentral = manager
    }

    func send(_ data: Data) {
        guard let characteristic = characteristic, peripheral.state == .connected else { return }
        let type: CBCharacteristicWriteType =
            characteristic.properties.contains(.write) ? .withResponse : .withoutResponse
        let length = peripheral.maximumWriteValueLength(for: type)
        peripheral.writeValue(data.prefix(length), for: characteristic, type: type)
        if peripheral.canSendWriteWithoutResponse { peripheral.readRSSI() }
    }
}

extension BluetoothService: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .unknown: print("central.state is .unknown")
        case .resetting: print("central.state is .resetting")
        case .unsupported: print("central.state is .unsupported")
        case .unauthorized: print("central.state is .unauthorized")
        case .poweredOff: print("central.state is .poweredOff")
        case .poweredOn: manager.scanForPeripherals(withServices: [transferServiceUUID])
        @unknown default: fatalError()
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        let power = advertisementData[CBAdvertisementDataTxPowerLevelKey] as? NSNumber
        print(name ?? "", power?.intValue ?? 0, RSSI.doubleValue, peripheral.identifier.uuidString)
        self.peripheral = peripheral
        central.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices(nil)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        if let error = error as NSError?, error.domain == CBErrorDomain,
            error.code == CBError.connectionTimeout.rawValue
        {
            central.connect(peripheral)
        }
    }
}

extension BluetoothService: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        peripheral.services?.forEach { peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        guard let found = service.characteristics?.first(where: { $0.properties.contains(.notify) }) else { return }
        characteristic = found
        peripheral.setNotifyValue(true, for: found)
        if found.service?.peripheral?.identifier == peripheral.identifier { peripheral.discoverDescriptors(for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let value = characteristic.value else { return }
        DispatchQueue.main.async { self.onValue?(value) }
    }
}

extension BluetoothService: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if #available(iOS 13.0, macOS 10.15, *) {
            guard CBManager.authorization == .allowedAlways else { return }
        }
        let service = CBMutableService(type: transferServiceUUID, primary: true)
        service.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "2A37"),
                properties: .notify,
                value: nil,
                permissions: .readable
            )
        ]
        peripheral.add(service)
    }
}

final class OldClientTests: XCTestCase {
    func testOldClientIsADelegateInEveryRole() {
        let client = BluetoothService()
        XCTAssertTrue((client as Any) is CBCentralManagerDelegate)
        XCTAssertTrue((client as Any) is CBPeripheralDelegate)
        XCTAssertTrue((client as Any) is CBPeripheralManagerDelegate)
        XCTAssertNil(sharedCentral)
    }
}
