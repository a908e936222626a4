import CoreBluetooth

/// The tasks of a central in sequence, as an iOS developer writes them: start up, discover, connect, explore, read,
/// subscribe, write, leave. The code does not depend on Harald in any way.
class CentralWalkthrough: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    let heartRateServiceUUID = CBUUID(string: "180D")
    let myCustomServiceUUID = CBUUID(string: "71DA3FD1-7E10-41C1-B16F-4430B506CDE7")
    let interestingCharacteristicUUID = CBUUID(string: "2A37")

    var myCentralManager: CBCentralManager!
    var discoveredPeripheral: CBPeripheral?
    var interestingCharacteristic: CBCharacteristic?
    var log: [String] = []

    init(queue: DispatchQueue?) {
        super.init()
        myCentralManager = CBCentralManager(delegate: self, queue: queue, options: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn:
            central.scanForPeripherals(
                withServices: [heartRateServiceUUID],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: false]
            )
        case .poweredOff, .resetting, .unauthorized, .unknown, .unsupported:
            log.append("not available")
        @unknown default:
            break
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        log.append("Discovered \(peripheral.name ?? "?") \(RSSI)")
        guard RSSI.intValue > -80, advertisementData[CBAdvertisementDataIsConnectable] as? Bool == true else { return }
        discoveredPeripheral = peripheral
        myCentralManager.stopScan()
        myCentralManager.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        log.append("Peripheral connected")
        peripheral.delegate = self
        peripheral.discoverServices([heartRateServiceUUID, myCustomServiceUUID])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        log.append("Failed \(error?.localizedDescription ?? "")")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let services = peripheral.services else { return }
        for service in services {
            log.append("Discovered service \(service.uuid)")
            peripheral.discoverCharacteristics(nil, for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for characteristic in service.characteristics ?? [] where characteristic.uuid == interestingCharacteristicUUID {
            log.append("Discovered characteristic \(characteristic.uuid)")
            interestingCharacteristic = characteristic
            peripheral.readValue(for: characteristic)
            if characteristic.properties.contains(.notify) {
                peripheral.setNotifyValue(true, for: characteristic)
            }
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        if let error = error as? CBATTError, error.code == .insufficientEncryption {
            log.append("needs pairing")
            return
        }
        let data = characteristic.value
        log.append("Value \(data?.first ?? 0)")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error = error {
            log.append("Error changing notification state: \(error.localizedDescription)")
        } else if characteristic.isNotifying {
            let dataToWrite = Data([0x01])
            peripheral.writeValue(dataToWrite, for: characteristic, type: .withResponse)
        } else {
            myCentralManager.cancelPeripheralConnection(peripheral)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        if let error = error {
            log.append("Error writing characteristic value: \(error.localizedDescription)")
        }
        peripheral.setNotifyValue(false, for: characteristic)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        log.append(error == nil ? "Disconnected" : "Lost")
    }

    // MARK: Reconnecting

    func reconnect(savedIdentifiers: [UUID]) {
        if let known = myCentralManager.retrievePeripherals(withIdentifiers: savedIdentifiers).first {
            discoveredPeripheral = known
            myCentralManager.connect(known, options: [CBConnectPeripheralOptionNotifyOnConnectionKey: true])
            return
        }
        let connected = myCentralManager.retrieveConnectedPeripherals(withServices: [heartRateServiceUUID])
        if let peripheral = connected.first {
            discoveredPeripheral = peripheral
            myCentralManager.connect(peripheral)
            return
        }
        myCentralManager.scanForPeripherals(withServices: [heartRateServiceUUID])
    }
}
