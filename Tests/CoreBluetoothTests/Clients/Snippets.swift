import CoreBluetooth

/// Lines quoted from guides and articles. They only have to compile.
final class Snippets {
    let myPeripheralManager: CBPeripheralManager
    let myCentralManager: CBCentralManager
    let myCharacteristicUUID = CBUUID(string: "71DA3FD1-7E10-41C1-B16F-4430B506CDE7")
    let emailCharacteristicUUID = CBUUID(string: "2A8E")
    let firstServiceUUID = CBUUID(string: "180D")
    let secondServiceUUID = CBUUID(string: "180F")
    var myCharacteristic: CBMutableCharacteristic?
    var emailCharacteristic: CBMutableCharacteristic?
    var knownPeripherals: [CBPeripheral] = []

    init(_ myCentralManager: CBCentralManager, _ myPeripheralManager: CBPeripheralManager) {
        self.myCentralManager = myCentralManager
        self.myPeripheralManager = myPeripheralManager
    }

    func asPeripheral() {
        myPeripheralManager.stopAdvertising()
        myCharacteristic = CBMutableCharacteristic(
            type: myCharacteristicUUID,
            properties: [.read, .notify],
            value: nil,
            permissions: .readable
        )
        emailCharacteristic = CBMutableCharacteristic(
            type: emailCharacteristicUUID,
            properties: [.read, .notifyEncryptionRequired],
            value: nil,
            permissions: .readEncryptionRequired
        )
    }

    func asCentral(_ peripheral: CBPeripheral, savedIdentifiers: [UUID]) {
        peripheral.discoverServices([firstServiceUUID, secondServiceUUID])
        myCentralManager.cancelPeripheralConnection(peripheral)
        knownPeripherals = myCentralManager.retrievePeripherals(withIdentifiers: savedIdentifiers)
        myCentralManager.retrieveConnectedPeripherals(withServices: [firstServiceUUID])
        myCentralManager.scanForPeripherals(withServices: nil, options: nil)
    }

    func formats(_ peripheral: CBPeripheral, _ characteristic: CBCharacteristic) -> String {
        String(format: "%@ of %@ on %@, %d", characteristic, peripheral, myCentralManager, 1)
    }

    func errors(_ error: (any Error)?) -> String {
        guard let error else { return "" }
        switch (error as? CBError)?.code {
        case .connectionTimeout, .peripheralDisconnected: return "gone"
        case .unknownDevice: return "who?"
        default: break
        }
        switch error {
        case CBATTError.insufficientAuthentication, CBATTError.insufficientEncryption: return "pair"
        case let error as CBATTError: return "\(error.code.rawValue)"
        default: return error.localizedDescription
        }
    }
}

/// Objects cross between tasks, as keys and as elements.
@MainActor final class SendingObjects {
    var states: [CBPeripheral: CBPeripheralState] = [:]
    var values: [CBUUID: Data] = [:]

    func keep(_ peripheral: CBPeripheral, of manager: CBCentralManager) async {
        states[peripheral] = peripheral.state
        let service = await Task.detached { peripheral.services?.first }.value
        if let characteristic = service?.characteristics?.first { values[characteristic.uuid] = characteristic.value }
    }
}
