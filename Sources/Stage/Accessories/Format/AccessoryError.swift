/// The reason why a file does not describe an accessory.
public struct AccessoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place in the file, such as `services[0].characteristics[1].uuid`. Empty for the whole file.
    public let path: String
    /// The mistake at that place.
    public let problem: String
    /// The remedy, as an instruction.
    public let advice: String

    init(_ path: String, _ problem: String, _ advice: String) {
        self.path = path
        self.problem = problem
        self.advice = advice
    }

    /// The place, the problem and the advice, in one line.
    public var description: String {
        "\(path.isEmpty ? "" : "\(path): ")\(problem); \(advice)"
    }
}

/// The bounds of accessory files. A file that exceeds one is refused (AB-F01).
public enum AccessoryLimits {
    /// The size of a file, in octets.
    public static let fileSize = 1 << 20
    /// The number of values in a file: objects, arrays, texts, numbers and others.
    public static let nodes = 100_000
    /// The depth of objects and arrays within each other.
    public static let depth = 16
    /// The length of a device name, in octets (Core Vol 3 Part C 12.1).
    public static let nameLength = 248
    /// The manufacturer and service data that an advertisement has room for, in octets, with a header of two octets for
    /// each (behaviours 7.18, 15.16).
    public static let advertisement = 28
    /// The number of services.
    public static let services = 64
    /// The number of characteristics of a service.
    public static let characteristics = 64
    /// The length of a value, in octets (Core Vol 3 Part F 3.2.9).
    public static let valueLength = 512
    /// The number of hidden values.
    public static let hiddenValues = 64
    /// The number of faults that begin at a time or by a write.
    public static let faults = 256
    /// The length of a hidden value, in octets.
    public static let hiddenValueLength = 1 << 18
    /// The number of descriptors of a characteristic.
    public static let descriptors = 16
    /// The number of changes of a value.
    public static let changes = 10_000
    /// The number of rules for writes to a characteristic.
    public static let rules = 256
    /// The number of effects of a rule, and of its conditions.
    public static let effects = 32
    /// The shortest interval between changes and between notifications, in seconds.
    public static let shortestInterval = 0.001
    /// The longest interval and the longest delay, in seconds.
    public static let longestInterval = 604_800.0
    /// The number of notifications that wait for room in the system, and of requests that are never answered.
    static let waiting = 256
}
