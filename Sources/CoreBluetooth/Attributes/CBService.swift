import BluetoothService
import Foundation
import Synchronization

/// A service of a peripheral: characteristics that belong together.
open class CBService: CBAttribute, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    struct Contents: Sendable {
        weak var peripheral: CBPeripheral?
        var characteristics: [CBCharacteristic]?
        var includedServices: [CBService]?
    }

    let contents: Mutex<Contents>
    private let primary: Bool

    init(uuid: CBUUID, handle: AttributeHandle, isPrimary: Bool, peripheral: CBPeripheral?) {
        primary = isPrimary
        contents = Mutex(Contents(peripheral: peripheral))
        super.init(uuid: uuid, handle: handle)
    }

    /// The peripheral that has it; nil when that object is gone, and for a local service.
    open var peripheral: CBPeripheral? { contents.withLock { $0.peripheral } }

    /// Whether it stands for a main function of the device; if not, it only means something within another.
    open var isPrimary: Bool { primary }

    /// The characteristics found so far; nil before the first discovery has succeeded.
    open var characteristics: [CBCharacteristic]? { contents.withLock { $0.characteristics } }

    /// The included services found so far; nil before the first discovery has succeeded.
    open var includedServices: [CBService]? { contents.withLock { $0.includedServices } }

    /// Class, kind and UUID.
    open override var description: String {
        "<\(nameAndAddress), isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
    }
}
