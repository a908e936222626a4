/// The optional methods of Core Bluetooth's delegate protocols, compiled in: checking a package needs no sources of
/// Harald. A test compares them with those of the module `CoreBluetooth`.
enum DelegateInterface {
    static let file = SourceFile(
        name: "Delegates.swift",
        text: """
            protocol CBCentralManagerDelegate {}
            extension CBCentralManagerDelegate {
                func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])
                func centralManager(_ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent,
                    for peripheral: CBPeripheral)
                func centralManager(_ central: CBCentralManager,
                    didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
                func centralManager(_ central: CBCentralManager, didDiscover peripheral: CBPeripheral,
                    advertisementData: [String: Any], rssi RSSI: NSNumber)
                func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)
                func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral,
                    error: (any Error)?)
                func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
                    error: (any Error)?)
                func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
                    timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?)
            }
            protocol CBPeripheralDelegate {}
            extension CBPeripheralDelegate {
                func peripheralDidUpdateName(_ peripheral: CBPeripheral)
                func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])
                func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)
                func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService,
                    error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService,
                    error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic,
                    error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic,
                    error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral,
                    didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral,
                    didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor,
                    error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor,
                    error: (any Error)?)
                func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)
                func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didReceive results: CBChannelSoundingProcedureResults?,
                    error: (any Error)?)
                func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?)
            }
            protocol CBPeripheralManagerDelegate {}
            extension CBPeripheralManagerDelegate {
                func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
                func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
                func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService,
                    error: (any Error)?)
                func peripheralManager(_ peripheral: CBPeripheralManager, central: CBCentral,
                    didSubscribeTo characteristic: CBCharacteristic)
                func peripheralManager(_ peripheral: CBPeripheralManager, central: CBCentral,
                    didUnsubscribeFrom characteristic: CBCharacteristic)
                func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
                func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
                func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
                func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM,
                    error: (any Error)?)
                func peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
                    error: (any Error)?)
                func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?,
                    error: (any Error)?)
            }
            """
    )
}
