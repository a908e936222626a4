import ServiceMessages
import Synchronization

/// A kind of accessory that the picker offers, with the name and the image that the app gives it.
open class ASPickerDisplayItem: NSObject, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.

    /// What happens beside the choice of an accessory.
    public struct SetupOptions: OptionSet, Hashable, Sendable {
        /// The raw bit mask.
        public let rawValue: UInt

        /// Creates options from a bit mask.
        ///
        /// - Parameter rawValue: The bits, assigned or not.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The user is asked for another name.
        public static var rename: SetupOptions { SetupOptions(rawValue: 1 << 0) }
        /// The app has to finish the authorization (behaviour 16.6).
        public static var confirmAuthorization: SetupOptions { SetupOptions(rawValue: 1 << 1) }
        /// The user is asked to finish the setup in the app.
        public static var finishInApp: SetupOptions { SetupOptions(rawValue: 1 << 2) }
    }

    fileprivate struct Options {
        var setup: SetupOptions = []
        var rename: ASAccessory.RenameOptions = []
        var peripheral: UUID?
        var hotspot: String?
    }

    /// The name that the app gives the accessory.
    public let name: String
    /// The image that the app gives the accessory. The picker here shows its name.
    public let productImage: UIImage
    /// The traits of the accessory.
    public let descriptor: ASDiscoveryDescriptor
    fileprivate let options = Mutex(Options())

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - name: The name that the app gives the accessory.
    ///   - productImage: The image that the app gives the accessory.
    ///   - descriptor: The traits of the accessory.
    public init(name: String, productImage: UIImage, descriptor: ASDiscoveryDescriptor) {
        self.name = name
        self.productImage = productImage
        self.descriptor = descriptor
    }

    /// What happens beside the choice of the accessory.
    open var setupOptions: SetupOptions {
        get { options.withLock { $0.setup } }
        set { options.withLock { $0.setup = newValue } }
    }

    /// What changes with the name.
    open var renameOptions: ASAccessory.RenameOptions {
        get { options.withLock { $0.rename } }
        set { options.withLock { $0.rename = newValue } }
    }

    /// The item as the service receives it; nil if it is about Wi-Fi, which this system does not have.
    var item: PickerItem? {
        let (traits, options) = (descriptor.current, options.withLock { $0 })
        // Behaviour 16.4.
        precondition(traits.ssid == nil || traits.ssidPrefix == nil, "a descriptor has an SSID or a prefix of one")
        guard !traits.isOfWiFi, options.hotspot == nil, !options.rename.contains(.ssid) else { return nil }
        return PickerItem(
            name: name,
            image: productImage.name,
            descriptor: traits.bluetooth,
            options: PickerItem.Options(rawValue: UInt8(truncatingIfNeeded: options.setup.rawValue)),
            migrated: options.peripheral
        )
    }
}

/// An accessory that the app has used before, and that becomes one of the session (behaviour 16.9).
open class ASMigrationDisplayItem: ASPickerDisplayItem, @unchecked Sendable {
    /// The identifier of the peripheral.
    open var peripheralIdentifier: UUID? {
        get { options.withLock { $0.peripheral } }
        set { options.withLock { $0.peripheral = newValue } }
    }

    /// The SSID of the accessory. This system has no Wi-Fi, and a picker for it fails with
    /// ``ASError/Code/invalidRequest``.
    open var hotspotSSID: String? {
        get { options.withLock { $0.hotspot } }
        set { options.withLock { $0.hotspot = newValue } }
    }
}

/// Settings of the picker.
open class ASPickerDisplaySettings: NSObject, @unchecked Sendable {
    // Safe: all state is in a mutex.

    /// How long the picker searches before it has found anything, in seconds.
    public struct DiscoveryTimeout: RawRepresentable, Hashable, Sendable {
        /// The time in seconds.
        public let rawValue: TimeInterval

        /// Creates a timeout.
        ///
        /// - Parameter rawValue: The time in seconds.
        public init(rawValue: TimeInterval) { self.rawValue = rawValue }

        /// A minute.
        public static let short = DiscoveryTimeout(rawValue: 60)
        /// Two minutes.
        public static let medium = DiscoveryTimeout(rawValue: 120)
        /// Five minutes.
        public static let long = DiscoveryTimeout(rawValue: 300)
        /// No limit.
        public static let unbounded = DiscoveryTimeout(rawValue: .infinity)

        /// The time of a picker without settings.
        static let usual = DiscoveryTimeout(rawValue: 30)
        /// The time in seconds; nil for no limit.
        var seconds: Int? { rawValue.isFinite ? Int(exactly: rawValue.rounded(.up)) ?? Int(Int32.max) : nil }
    }

    private let timeout = Mutex(DiscoveryTimeout.usual)

    /// Settings with the usual values.
    open class var `default`: ASPickerDisplaySettings { ASPickerDisplaySettings() }

    /// Creates settings with the usual values.
    public override init() {}

    /// How long the picker searches before it has found anything. By default 30 s.
    open var discoveryTimeout: DiscoveryTimeout {
        get { timeout.withLock { $0 } }
        set { timeout.withLock { $0 = newValue } }
    }
}
