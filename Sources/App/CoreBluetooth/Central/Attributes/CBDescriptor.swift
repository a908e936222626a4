import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// A descriptor of a characteristic, with further information about its value.
///
/// Descriptors of a peripheral are found by ``CBPeripheral/discoverDescriptors(for:)``. Such an object is valid as
/// long as its characteristic (behaviours 3.14, 4.13).
///
/// Properties may be read from any thread. The value of a peripheral's descriptor changes on the manager's queue, right
/// before the delegate is called.
open class CBDescriptor: CBAttribute, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private struct Contents: Sendable {
        weak var characteristic: CBCharacteristic?
        var octets: Data?
    }

    private let contents: Mutex<Contents>

    init(uuid: CBUUID, handle: AttributeHandle, octets: Data?, characteristic: CBCharacteristic?) {
        contents = Mutex(Contents(characteristic: characteristic, octets: octets))
        super.init(uuid: uuid, handle: handle)
    }

    /// The characteristic that contains the descriptor. Nil once that object has been released, since the reference is
    /// weak (behaviour 13.7).
    open var characteristic: CBCharacteristic? { contents.withLock { $0.characteristic } }

    /// The last value that was read, or nil if there was none.
    ///
    /// The type depends on the descriptor: a `String` for a User Description, an `NSNumber` for Extended Properties and
    /// for Client and Server Characteristic Configuration, and `Data` for all others (behaviour 4.6).
    open var value: Any? {
        guard let octets else { return nil }
        switch uuid.uuid {
        case 0x2900, 0x2902, 0x2903:
            // A peer may send fewer octets than the required two.
            return NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        case 0x2901: return String(decoding: octets, as: UTF8.self)
        default: return octets
        }
    }

    final var octets: Data? { contents.withLock { $0.octets } }

    final func setOctets(_ octets: Data) {
        contents.withLock { $0.octets = octets }
        keyValues.check()
    }

    final func setCharacteristic(_ characteristic: CBCharacteristic) {
        contents.withLock { $0.characteristic = characteristic }
    }

    override func value(named name: String) -> Any?? {
        switch name {
        case "characteristic": .some(characteristic)
        case "value": .some(value)
        default: super.value(named: name)
        }
    }

    /// The class, UUID and value.
    open override var description: String {
        let text =
            switch value {
            case let data as Data: Optional(data).octetText
            case .some(let value): "\(value)"
            case .none: "(null)"
            }
        return "<\(nameAndAddress), UUID = \(uuid), value = \(text)>"
    }
}
