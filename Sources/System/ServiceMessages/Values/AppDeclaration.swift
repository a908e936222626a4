import BluetoothTypes

/// The properties of an app that are declared before it runs: the part of its `Info.plist` that concerns Bluetooth.
public struct AppDeclaration: Hashable, Sendable {
    /// The uses of Bluetooth that the app declares for the background.
    public struct BackgroundModes: OptionSet, Hashable, Sendable {
        /// The raw bit mask.
        public let rawValue: UInt8

        /// Creates modes from a bit mask.
        ///
        /// - Parameter rawValue: The bits, assigned or not.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// `bluetooth-central`: the app scans, connects, and is woken by events of peripherals (behaviour 9.5).
        public static let central = BackgroundModes(rawValue: 1)
        /// `bluetooth-peripheral`: the app advertises, and is woken by events of centrals (behaviour 9.6).
        public static let peripheral = BackgroundModes(rawValue: 2)
    }

    /// `CFBundleDisplayName`: the app's name for the user. Nil if the app is shown by its identifier.
    public var displayName: String?
    /// `NSBluetoothAlwaysUsageDescription`: why the app uses Bluetooth. Nil if missing (behaviour 1.19).
    public var usageDescription: String?
    /// The Bluetooth modes among `UIBackgroundModes`.
    public var backgroundModes: BackgroundModes
    /// Whether `NSAccessorySetupKitSupports` lists Bluetooth, so that the app's accessories were set up by
    /// AccessorySetupKit (behaviour 10.17).
    public var usesAccessorySetup = false
    /// The accessories that the app may look for with AccessorySetupKit; nil if it does not use AccessorySetupKit for
    /// Bluetooth. Its central managers reach only the accessories that it has set up (behaviour 1.23).
    public var setup: SetupDeclaration?
    /// `NSSupportsLiveActivities`: whether the app may start Live Activities (behaviour 9.22).
    public var supportsLiveActivities = false
    /// `HaraldLaunch`: the absolute path of the program that launches the app, followed by its arguments. Empty if the
    /// app cannot be launched.
    public var launchCommand: [String] = []
    /// Whether the app has the life cycle of an iOS app. If false, it is always in the foreground, as on a Mac.
    public var isManaged: Bool
    /// The kind of the process.
    public var kind: ProcessKind

    /// Creates a declaration. The remaining properties have their default values.
    ///
    /// - Parameters:
    ///   - displayName: The app's name for the user; nil if the app is shown by its identifier.
    ///   - usageDescription: Why the app uses Bluetooth; nil if missing (behaviour 1.19).
    ///   - backgroundModes: The uses of Bluetooth in the background (behaviours 9.5, 9.6).
    ///   - isManaged: Whether the app has the life cycle of an iOS app. A command-line program never has.
    ///   - kind: The kind of the process (behaviours 9.19 to 9.21).
    public init(
        displayName: String? = nil,
        usageDescription: String? = nil,
        backgroundModes: BackgroundModes = [],
        isManaged: Bool = true,
        kind: ProcessKind = .app
    ) {
        self.displayName = displayName
        self.usageDescription = usageDescription
        self.backgroundModes = backgroundModes
        self.isManaged = isManaged && kind != .commandLineProgram
        self.kind = kind
    }

    /// Whether the preserved state of the app is saved. An app with the life cycle of a Mac app, where nothing is
    /// restored (behaviour 10.22), opts in with a launch command.
    package var isRecorded: Bool { isManaged || !launchCommand.isEmpty }

    /// The declaration of a process that links the library and declares nothing.
    public static let unmanaged = AppDeclaration(isManaged: false, kind: .commandLineProgram)

    /// Creates the declaration in a property list of Apple's form. A value of the wrong type counts as missing.
    ///
    /// - Parameters:
    ///   - propertyList: The contents of an `Info.plist`; other keys are ignored.
    ///   - isManaged: Whether the app has the life cycle of an iOS app.
    public init(propertyList: [String: Any], isManaged: Bool = true) {
        let modes = propertyList["UIBackgroundModes"] as? [String] ?? []
        self.init(
            displayName: propertyList["CFBundleDisplayName"] as? String,
            usageDescription: propertyList["NSBluetoothAlwaysUsageDescription"] as? String,
            isManaged: isManaged,
            kind: ProcessKind(propertyList: propertyList, isManaged: isManaged)
        )
        launchCommand = propertyList["HaraldLaunch"] as? [String] ?? []
        setup = SetupDeclaration(propertyList: propertyList)
        usesAccessorySetup = setup != nil
        supportsLiveActivities = propertyList["NSSupportsLiveActivities"] as? Bool ?? false
        if modes.contains("bluetooth-central") { backgroundModes.insert(.central) }
        if modes.contains("bluetooth-peripheral") { backgroundModes.insert(.peripheral) }
    }
}

/// A phase in the life cycle of an app.
public enum AppPhase: Hashable, Sendable {
    /// Running in front of the user.
    case foreground
    /// In the background and running: for a while after the user left the app, or after an event woke it.
    case background
    /// In memory, and not running.
    case suspended
    /// The process is gone.
    case notRunning(AppEnd)
}

/// How the process of an app ended.
public enum AppEnd: Hashable, Sendable {
    /// The process crashed or was killed by a signal.
    case crashed
    /// The system reclaimed the memory.
    case removedFromMemory
    /// The user force-quit the app.
    case forceQuit
    /// The device was switched off.
    case deviceRestarted
}

/// Identifies an app. The identity is stable on one host, whichever process the app runs in.
public struct AppIdentity: Hashable, Sendable {
    /// The bundle identifier, or the name of the executable if there is none.
    public var name: String
    /// The user ID that the app runs as. The service determines it and does not trust what the app claims.
    public var owner: UInt32

    /// Creates an identity from a name and a user ID.
    ///
    /// - Parameters:
    ///   - name: The bundle identifier, or the name of the executable if there is none.
    ///   - owner: The user ID that the app runs as. For an app in another process, the service uses that of the
    ///     process.
    public init(name: String, owner: UInt32 = 0) {
        self.name = name
        self.owner = owner
    }

    /// The description for the log and the user.
    package var label: String { "\(name.quotedName) of user \(owner)" }
}
