/// The version of iOS whose rules a system follows where they changed between versions: behaviours 1.8, 1.18, 3.27 and
/// 3.28, 7.25, 9.17, 10.17 and 10.18, and 16.1.
public struct SystemVersion: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The major version number.
    public var major: Int

    /// The newest version whose behaviour is known.
    public static let newest: SystemVersion = 26

    /// Creates a version from its major version number.
    public init(integerLiteral major: Int) {
        self.major = major
    }

    /// Whether `one` is the older version.
    public static func < (one: SystemVersion, other: SystemVersion) -> Bool { one.major < other.major }

    /// Whether known peripherals can be retrieved in every radio state (behaviour 1.8).
    var retrievesWithoutPower: Bool { self < 13 }
    /// Whether apps need permission to use Bluetooth (behaviour 1.18).
    var asksForPermission: Bool { self >= 13 }
    /// Whether apps may start advertising in the background (behaviour 7.25).
    var startsAdvertisingInBackground: Bool { self < 14 }
    /// Whether preserved apps survive the switch in Control Centre and a restart (behaviour 10.18).
    var preservesAcrossSwitches: Bool { self > 10 }
    /// Whether an app with a Live Activity has the privileges of the foreground in the background (behaviour 9.17).
    var grantsLiveActivities: Bool { self >= 26 }
    /// Whether there is AccessorySetupKit (behaviour 16.1).
    var setsUpAccessories: Bool { self >= 18 }
    /// Whether an app that uses AccessorySetupKit is restored after the user force-quit it (behaviour 10.17).
    var preservesSetUpAccessories: Bool { self >= 26 }
    /// The rules for connection parameter requests (behaviours 3.27, 3.28).
    var parameterEdition: AppleConnectionParameterRules.Edition {
        self < 11 ? .first : self < 18 ? .second : .current
    }
}
