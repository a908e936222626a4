import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// A descriptor of a characteristic: more about its value.
open class CBDescriptor: CBAttribute, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    struct Contents: Sendable {
        weak var characteristic: CBCharacteristic?
        /// As on the wire.
        var octets: Data?
    }

    let contents: Mutex<Contents>

    init(uuid: CBUUID, handle: AttributeHandle, octets: Data?, characteristic: CBCharacteristic?) {
        contents = Mutex(Contents(characteristic: characteristic, octets: octets))
        super.init(uuid: uuid, handle: handle)
    }

    /// The characteristic that has it; nil when that object is gone.
    open var characteristic: CBCharacteristic? { contents.withLock { $0.characteristic } }

    /// The value that was last read; nil before. A `String` for a User Description, an `NSNumber` for Extended Properties and
    /// for Client and Server Characteristic Configuration, `Data` for all others (behaviour 4.6).
    open var value: Any? {
        guard let octets = contents.withLock({ $0.octets }) else { return nil }
        switch uuid.uuid {
        case 0x2900, 0x2902, 0x2903:
            // A peer may send fewer octets than the two it should.
            return NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        case 0x2901: return String(decoding: octets, as: UTF8.self)
        default: return octets
        }
    }

    /// Class, UUID and value.
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
