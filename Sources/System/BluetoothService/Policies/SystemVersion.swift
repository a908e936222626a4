import BluetoothTypes
import ServiceMessages

/// A version of iOS, whose rules a system follows where they changed between versions (`DatedRule`).
///
/// Rules are known for the versions from ``oldest`` to ``newest``. An older version has the rules of the oldest one, and a
/// newer version those of the newest one.
public struct SystemVersion: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The major version number: 13 in 13.4.
    public var major: Int
    /// The minor version number: 4 in 13.4.
    public var minor: Int

    /// The oldest version whose behaviour is known.
    public static let oldest: SystemVersion = 10
    /// The newest version whose behaviour is known.
    public static let newest: SystemVersion = 27

    /// Creates a version from its numbers.
    ///
    /// - Parameters:
    ///   - major: The major version number.
    ///   - minor: The minor version number.
    public init(_ major: Int, _ minor: Int = 0) {
        (self.major, self.minor) = (major, minor)
    }

    /// Creates a version from its major version number, with the minor version number 0.
    public init(integerLiteral major: Int) {
        self.init(major)
    }

    /// The last version with this major version number, whatever its minor version number is.
    static func last(of major: Int) -> SystemVersion { SystemVersion(major, .max) }

    /// Whether `one` is the older version.
    public static func < (one: SystemVersion, other: SystemVersion) -> Bool {
        (one.major, one.minor) < (other.major, other.minor)
    }

    /// The version as Apple writes it, without a minor version number of 0.
    public var description: String { minor == 0 || minor == .max ? "\(major)" : "\(major).\(minor)" }

    /// Whether the version has this rule.
    func has(_ rule: DatedRule) -> Bool {
        let known = major < Self.oldest.major ? .oldest : major > Self.newest.major ? .newest : self
        return rule.row.versions.contains(known)
    }

    /// Returns why a process of this kind has no Bluetooth, or nil if it has (behaviour 9.20).
    package func refusal(of kind: ProcessKind) -> String? {
        switch kind {
        case .app, .iOSAppOnMac, .commandLineProgram: nil
        case .appExtension(ProcessKind.transportExtensionPoint): error(lacking: .transportExtensions)?.reason
        case .appExtension(let point):
            """
            an app extension for \(point.quotedName) has no Bluetooth; of the extension points, only \
            \(ProcessKind.transportExtensionPoint) has
            """
        case .other(let packageType):
            """
            a bundle with CFBundlePackageType \(packageType.quotedName) has no Bluetooth; apps (APPL), app extensions \
            (XPC!) and programs without a bundle have
            """
        }
    }

    /// Returns the error for a request that this version does not know, or nil if it has the rule. On Apple's systems the
    /// method does not exist, and an app that calls it crashes.
    func error(lacking rule: DatedRule) -> ServiceError? {
        guard !has(rule) else { return nil }
        let row = rule.row
        let text = "iOS \(self) does not support this: \(row.text) from iOS \(row.versions.lowerBound) on"
        return ServiceError(.operationNotSupported, reason: text)
    }
}
