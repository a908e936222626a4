/// What an app says of itself before it runs: what of its `Info.plist` matters to Bluetooth.
public struct AppDeclaration: Hashable, Sendable {
    /// What an app may do with Bluetooth while it is not in the foreground.
    public struct BackgroundModes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Modes by their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// `bluetooth-central`: scans, connects, and is woken by what peripherals do (behaviour 9.5).
        public static let central = BackgroundModes(rawValue: 1)
        /// `bluetooth-peripheral`: advertises, and is woken by what centrals do (behaviour 9.6).
        public static let peripheral = BackgroundModes(rawValue: 2)
    }

    /// `CFBundleDisplayName`: what persons call the app; nil for one that goes by its identifier.
    public var displayName: String?
    /// `NSBluetoothAlwaysUsageDescription`: what it says that Bluetooth is for; nil when it does not say (behaviour 1.19).
    public var usageDescription: String?
    /// What of `UIBackgroundModes` is about Bluetooth.
    public var backgroundModes: BackgroundModes
    /// `NSAccessorySetupKitSupports` names Bluetooth: its accessories were set up by AccessorySetupKit (behaviour 10.17).
    public var usesAccessorySetup = false
    /// `HaraldLaunch`: the program that is started to launch it, by its whole path, and what it is given; empty for one that nobody
    /// can launch.
    public var launchCommand: [String] = []
    /// Whether its life is as on a phone; else it is always in the foreground, as on a Mac.
    public var isManaged: Bool

    /// An app that declares what is given.
    public init(
        displayName: String? = nil,
        usageDescription: String? = nil,
        backgroundModes: BackgroundModes = [],
        isManaged: Bool = true
    ) {
        self.displayName = displayName
        self.usageDescription = usageDescription
        self.backgroundModes = backgroundModes
        self.isManaged = isManaged
    }

    /// Whether what is kept of the app is written down. An app that lives as on a Mac, where nothing is restored (behaviour 10.22), says how
    /// it is launched if it wants that all the same.
    var isRecorded: Bool { isManaged || !launchCommand.isEmpty }

    /// A process that links the library and declares nothing.
    public static let unmanaged = AppDeclaration(isManaged: false)

    /// What a property list of Apple's form says; whatever has another type than it should counts as missing.
    public init(propertyList: [String: Any], isManaged: Bool = true) {
        let modes = propertyList["UIBackgroundModes"] as? [String] ?? []
        self.init(
            displayName: propertyList["CFBundleDisplayName"] as? String,
            usageDescription: propertyList["NSBluetoothAlwaysUsageDescription"] as? String,
            isManaged: isManaged
        )
        launchCommand = propertyList["HaraldLaunch"] as? [String] ?? []
        let kinds = propertyList["NSAccessorySetupKitSupports"] as? [String] ?? []
        usesAccessorySetup = kinds.contains("Bluetooth")
        if modes.contains("bluetooth-central") { backgroundModes.insert(.central) }
        if modes.contains("bluetooth-peripheral") { backgroundModes.insert(.peripheral) }
    }
}
