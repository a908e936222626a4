/// Which version of iOS a system behaves like, where rules changed from one to another: behaviours 1.8, 1.18, 3.27 and 3.28, 7.25, and
/// 10.17 and 10.18.
public struct SystemVersion: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The first number of the version.
    public var major: Int

    /// The newest version that anything is known of.
    public static let newest: SystemVersion = 26

    /// A version by its first number.
    public init(integerLiteral major: Int) {
        self.major = major
    }

    /// Which of two is the older one.
    public static func < (one: SystemVersion, other: SystemVersion) -> Bool { one.major < other.major }

    /// Whether known peripherals are found in every state of the radio (behaviour 1.8).
    var retrievesWithoutPower: Bool { self < 13 }
    /// Whether apps have to be allowed Bluetooth (behaviour 1.18).
    var asksForPermission: Bool { self >= 13 }
    /// Whether apps may start advertising in the background (behaviour 7.25).
    var startsAdvertisingInBackground: Bool { self < 14 }
    /// Whether what is kept of apps outlives the switch in Control Centre and a restart (behaviour 10.18).
    var preservesAcrossSwitches: Bool { self > 10 }
    /// Whether an app with AccessorySetupKit comes back after the person has ended it (behaviour 10.17).
    var preservesSetUpAccessories: Bool { self >= 26 }
    /// Which requests for connection parameters are followed (behaviours 3.27, 3.28).
    var parameterEdition: AppleConnectionParameterRules.Edition {
        self < 11 ? .first : self < 16 ? .second : .current
    }
}
