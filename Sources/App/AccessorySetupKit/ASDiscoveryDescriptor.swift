import BluetoothTypes
import CoreBluetooth
import ServiceMessages
import Synchronization

/// The number of a company that the Bluetooth SIG has assigned.
public struct ASBluetoothCompanyIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Creates an identifier.
    ///
    /// - Parameter rawValue: The number; 0 for none.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates an identifier.
    ///
    /// - Parameter rawValue: The number; 0 for none.
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// The traits by which accessories are discovered (behaviour 16.4).
///
/// A descriptor needs a service or a company. All traits that it has must match.
open class ASDiscoveryDescriptor: NSObject, @unchecked Sendable {
    // Safe: all state is in a mutex.
    struct Traits {
        var bluetooth = AccessoryDescriptor()
        var ssid: String?
        var ssidPrefix: String?

        /// Whether the traits are about Wi-Fi, which this system does not have.
        var isOfWiFi: Bool { ssid != nil || ssidPrefix != nil }
    }

    private let traits = Mutex(Traits())

    /// Creates a descriptor without traits.
    public override init() {}

    init(_ descriptor: AccessoryDescriptor) { traits.withLock { $0.bluetooth = descriptor } }

    /// The traits at present.
    var current: Traits { traits.withLock { $0 } }

    private subscript<Value: Sendable>(_ path: WritableKeyPath<Traits, Value>) -> Value {
        get { traits.withLock { $0[keyPath: path] } }
        set { traits.withLock { $0[keyPath: path] = newValue } }
    }

    /// The range in which accessories are discovered.
    public enum Range: Int, Hashable, Sendable {
        /// Wherever the accessory is received.
        case `default` = 0
        /// Right next to this device.
        case immediate = 10
    }

    /// What the accessory supports. An accessory that supports pairing is paired while it is set up (behaviour 16.5).
    open var supportedOptions: ASAccessory.SupportOptions {
        get { ASAccessory.SupportOptions(rawValue: UInt(self[\.bluetooth.options])) }
        set { self[\.bluetooth.options] = UInt64(newValue.rawValue) }
    }

    /// The company in the accessory's manufacturer data; 0 for any.
    open var bluetoothCompanyIdentifier: ASBluetoothCompanyIdentifier {
        get { ASBluetoothCompanyIdentifier(self[\.bluetooth.company] ?? 0) }
        set { self[\.bluetooth.company] = newValue.rawValue == 0 ? nil : newValue.rawValue }
    }

    /// The manufacturer data after the company, as far as ``bluetoothManufacturerDataMask`` has its bits set.
    open var bluetoothManufacturerDataBlob: Data? {
        get { self[\.bluetooth.manufacturerBlob].map { Data($0) } }
        set { self[\.bluetooth.manufacturerBlob] = newValue.map { PacketBuffer(Array($0)) } }
    }

    /// The bits of ``bluetoothManufacturerDataBlob`` that count. It has the same length.
    open var bluetoothManufacturerDataMask: Data? {
        get { self[\.bluetooth.manufacturerMask].map { Data($0) } }
        set { self[\.bluetooth.manufacturerMask] = newValue.map { PacketBuffer(Array($0)) } }
    }

    /// A part of the name that the accessory advertises.
    open var bluetoothNameSubstring: String? {
        get { self[\.bluetooth.nameSubstring] }
        set { self[\.bluetooth.nameSubstring] = newValue }
    }

    /// How ``bluetoothNameSubstring`` is compared. Regular expressions are compared as texts here.
    open var bluetoothNameSubstringCompareOptions: NSString.CompareOptions {
        get { NSString.CompareOptions(rawValue: UInt(self[\.bluetooth.nameOptions])) }
        set { self[\.bluetooth.nameOptions] = UInt64(newValue.rawValue) }
    }

    /// The range in which accessories are discovered.
    open var bluetoothRange: Range {
        get { self[\.bluetooth.isImmediate] ? .immediate : .default }
        set { self[\.bluetooth.isImmediate] = newValue == .immediate }
    }

    /// The data of ``bluetoothServiceUUID``, as far as ``bluetoothServiceDataMask`` has its bits set.
    open var bluetoothServiceDataBlob: Data? {
        get { self[\.bluetooth.serviceBlob].map { Data($0) } }
        set { self[\.bluetooth.serviceBlob] = newValue.map { PacketBuffer(Array($0)) } }
    }

    /// The bits of ``bluetoothServiceDataBlob`` that count. It has the same length.
    open var bluetoothServiceDataMask: Data? {
        get { self[\.bluetooth.serviceMask].map { Data($0) } }
        set { self[\.bluetooth.serviceMask] = newValue.map { PacketBuffer(Array($0)) } }
    }

    /// A service that the accessory advertises, by itself or with data.
    open var bluetoothServiceUUID: CBUUID? {
        get { self[\.bluetooth.service].map { CBUUID($0) } }
        set { self[\.bluetooth.service] = newValue.map { $0.uuid } }
    }

    /// The SSID of the accessory's network. This system has no Wi-Fi, and a picker for it fails with
    /// ``ASError/Code/invalidRequest``.
    open var ssid: String? {
        get { self[\.ssid] }
        set { self[\.ssid] = newValue }
    }

    /// The beginning of the SSID of the accessory's network, like ``ssid``.
    open var ssidPrefix: String? {
        get { self[\.ssidPrefix] }
        set { self[\.ssidPrefix] = newValue }
    }
}
