import BluetoothTypes
import Foundation

/// A UUID of 16, 32 or 128 bits.
///
/// The short forms stand for a 128-bit value on the Bluetooth base UUID and compare equal to it, in whatever width they
/// are written (behaviour 0.2). The width shows in ``uuidString`` and ``data`` alone (behaviour 0.5). Objects are
/// immutable and may be used from any thread.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
    // Safe: the stored properties are immutable.
    package let uuid: BluetoothUUID

    /// Creates a UUID from text such as `180D`, `0000180D` or `0000180D-0000-1000-8000-00805F9B34FB`.
    ///
    /// `CBUUID(validating:)` of CoreBluetoothExtras throws where this initializer traps.
    ///
    /// - Parameter theString: Four or eight hexadecimal digits, or 32 with hyphens.
    /// - Precondition: The text has one of these forms (behaviour 0.4).
    public init(string theString: String) {
        guard let uuid = BluetoothUUID(theString) else {
            preconditionFailure(
                """
                String "\(theString)" does not represent a valid UUID. Write 4 or 8 hexadecimal digits, or 32 with hyphens \
                as in 0000180D-0000-1000-8000-00805F9B34FB; validate untrusted text first.
                """
            )
        }
        self.uuid = uuid
        super.init()
    }

    /// Creates a UUID from octets, most significant first, in the order in which they are printed.
    ///
    /// - Parameter theData: The 2, 4 or 16 octets.
    /// - Precondition: There are 2, 4 or 16 octets (behaviour 0.4).
    public init(data theData: Data) {
        guard let uuid = BluetoothUUID(bigEndian: theData) else {
            preconditionFailure(
                "Data of \(theData.count) bytes does not represent a valid UUID. Pass 2, 4 or 16 bytes, as printed."
            )
        }
        self.uuid = uuid
        super.init()
    }

    /// Creates a 128-bit UUID with the value of a Foundation UUID.
    ///
    /// A value on the Bluetooth base UUID is equal to its short forms, but ``uuidString`` and ``data`` keep 128 bits
    /// (behaviours 0.2, 0.5).
    ///
    /// - Parameter theUUID: The value.
    public init(nsuuid theUUID: UUID) {
        let octets = withUnsafeBytes(of: theUUID.uuid) { Array($0) }
        let halves = (octets.prefix(8), octets.suffix(8))
        func value(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        uuid = BluetoothUUID(high: value(halves.0), low: value(halves.1))
        super.init()
    }

    /// Creates the nil UUID, whose bits are all zero (RFC 9562 5.9; behaviour 0.9).
    public override init() {
        uuid = BluetoothUUID(high: 0, low: 0)
        super.init()
    }

    package init(_ uuid: BluetoothUUID) {
        self.uuid = uuid
        super.init()
    }

    /// The 2, 4 or 16 octets, most significant first.
    open var data: Data { Data(uuid.bigEndianBytes) }

    /// The UUID as four or eight upper-case hexadecimal digits, or 32 with hyphens.
    open var uuidString: String { uuid.description }

    /// Returns the object itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether the other object is a `CBUUID` with the same 128-bit value.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CBUUID)?.uuid == uuid
    }

    /// A hash of the 128-bit value.
    open override var hash: Int { uuid.hashValue }

    /// The name that Apple's framework prints for the UUID, if it has one, else ``uuidString``.
    open override var description: String { uuid.uint16.flatMap { assignedNames[$0] } ?? uuidString }
}

extension CBUUID: _CVarArgObject {
    /// The description as an argument for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension [CBUUID] {
    var values: [BluetoothUUID] { map(\.uuid) }
}

extension [CBUUID]? {
    /// The UUIDs to discover, as the service represents them. Nil and an empty list both mean all (behaviour 4.1).
    package var wanted: [BluetoothUUID]? { flatMap { $0.isEmpty ? nil : $0.values } }
}

/// The names that Apple's framework prints in place of a number.
private let assignedNames: [UInt16: String] = [
    0x1800: "Generic Access", 0x1801: "Generic Attribute", 0x1802: "Immediate Alert", 0x1803: "Link Loss",
    0x1804: "Tx Power", 0x1805: "Current Time", 0x1809: "Health Thermometer", 0x180A: "Device Information",
    0x180D: "Heart Rate", 0x180F: "Battery", 0x1810: "Blood Pressure", 0x1812: "Human Interface Device",
    0x1816: "Cycling Speed and Cadence", 0x1818: "Cycling Power",
    0x2900: "Characteristic Extended Properties", 0x2901: "Characteristic User Description",
    0x2902: "Client Characteristic Configuration", 0x2903: "Server Characteristic Configuration",
    0x2904: "Characteristic Format", 0x2905: "Characteristic Aggregate Format",
    0x2A00: "Device Name", 0x2A01: "Appearance", 0x2A05: "Service Changed", 0x2A19: "Battery Level",
    0x2A23: "System ID", 0x2A24: "Model Number String", 0x2A25: "Serial Number String",
    0x2A26: "Firmware Revision String", 0x2A27: "Hardware Revision String", 0x2A28: "Software Revision String",
    0x2A29: "Manufacturer Name String", 0x2A50: "PnP ID",
]
