import CoreBluetooth

/// The tasks of a peripheral in sequence, as an iOS developer writes them: start up, build the tree, publish,
/// advertise, respond, notify. The code does not depend on Harald in any way.
class PeripheralWalkthrough: NSObject, CBPeripheralManagerDelegate {
    let myServiceUUID = CBUUID(string: "71DA3FD1-7E10-41C1-B16F-4430B506CDE7")
    let myCharacteristicUUID = CBUUID(string: "71DA3FD2-7E10-41C1-B16F-4430B506CDE7")
    let emailCharacteristicUUID = CBUUID(string: "71DA3FD3-7E10-41C1-B16F-4430B506CDE7")

    var myPeripheralManager: CBPeripheralManager!
    var myService: CBMutableService!
    var myCharacteristic: CBMutableCharacteristic!
    var emailCharacteristic: CBMutableCharacteristic!
    var log: [String] = []

    init(queue: DispatchQueue?) {
        super.init()
        myPeripheralManager = CBPeripheralManager(delegate: self, queue: queue, options: nil)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        myCharacteristic = CBMutableCharacteristic(
            type: myCharacteristicUUID,
            properties: [.read, .write, .notify],
            value: nil,
            permissions: [.readable, .writeable]
        )
        myCharacteristic.value = Data("hello".utf8)
        emailCharacteristic = CBMutableCharacteristic(
            type: emailCharacteristicUUID,
            properties: [.read, .notifyEncryptionRequired],
            value: nil,
            permissions: .readEncryptionRequired
        )
        myService = CBMutableService(type: myServiceUUID, primary: true)
        myService.characteristics = [myCharacteristic, emailCharacteristic]
        myPeripheralManager.add(myService)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error = error {
            log.append("Error publishing service: \(error.localizedDescription)")
            return
        }
        myPeripheralManager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "walkthrough", CBAdvertisementDataServiceUUIDsKey: [myService.uuid],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error = error {
            log.append("Error advertising: \(error.localizedDescription)")
        } else {
            log.append("Advertising")
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.characteristic.uuid.isEqual(myCharacteristic.uuid), let value = myCharacteristic.value else {
            return myPeripheralManager.respond(to: request, withResult: .attributeNotFound)
        }
        if request.offset > value.count {
            myPeripheralManager.respond(to: request, withResult: .invalidOffset)
            return
        }
        request.value = value.subdata(in: request.offset..<value.count)
        myPeripheralManager.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests where request.characteristic.uuid == myCharacteristic.uuid {
            myCharacteristic.value = request.value
        }
        myPeripheralManager.respond(to: requests[0], withResult: CBATTError.success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        log.append("Central subscribed to characteristic \(characteristic.uuid)")
        peripheral.stopAdvertising()
        sendUpdate()
    }

    func sendUpdate() {
        let updatedValue = Data("new".utf8)
        let didSendValue = myPeripheralManager.updateValue(
            updatedValue,
            for: myCharacteristic,
            onSubscribedCentrals: nil
        )
        log.append("sent: \(didSendValue)")
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        sendUpdate()
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        log.append("gone")
    }
}
