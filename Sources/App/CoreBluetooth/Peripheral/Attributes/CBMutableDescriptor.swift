import BluetoothTypes
import Foundation

/// A descriptor that this device publishes. Its value cannot change (behaviour 7.8).
///
/// Properties may be read from any thread.
open class CBMutableDescriptor: CBDescriptor, @unchecked Sendable {
    // Safe: adds no state.

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - UUID: The UUID of the descriptor's type.
    ///   - value: The value, a `String` for 2901 and a `Data` for 2904.
    /// - Precondition: The descriptor is a User Description (2901) with a `String`, or a Presentation Format (2904)
    ///   with a `Data`. The system creates the other descriptors from the properties of the characteristic
    ///   (behaviour 7.8).
    public init(type UUID: CBUUID, value: Any?) {
        super.init(uuid: UUID, handle: 0, octets: Self.octets(of: value, for: UUID), characteristic: nil)
    }

    /// Creates a descriptor of any type, for systems that publish more than Apple's.
    package init(unchecked type: CBUUID, octets: [UInt8]) {
        super.init(uuid: type, handle: 0, octets: Data(octets), characteristic: nil)
    }

    private static func octets(of value: Any?, for type: CBUUID) -> Data {
        switch type.uuid {
        case 0x2901:
            guard let text = value as? String else {
                preconditionFailure("Expecting a String value for a User Description descriptor (2901)")
            }
            return Data(text.utf8)
        case 0x2904:
            guard let data = value as? Data else {
                preconditionFailure("Expecting a Data value for a Format descriptor (2904)")
            }
            return data
        default:
            preconditionFailure(
                """
                A descriptor of type \(type.uuidString) cannot be created. Only 2901 and 2904 can; the system creates \
                2900 and 2902 from the characteristic's properties.
                """
            )
        }
    }
}
