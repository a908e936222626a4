import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// BLOCK
