// Code that imports single headers of Apple's framework gets the whole module.
import CoreBluetooth.CBCharacteristic
import CoreBluetooth.CBL2CAPChannel
import CoreBluetooth.CBPeripheral
import CoreBluetooth.CBUUID

/// Whether a characteristic can be read.
func isReadable(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral?) -> Bool {
    characteristic.properties.contains(.read) && (peripheral?.state ?? .disconnected) != .connecting
}

/// A value of the underlying C module.
let offState: CoreBluetooth.CBManagerState = .poweredOff
