/// The kind of a process that uses Bluetooth, which decides its rules for the background, prompts and restoration
/// (behaviours 9.19 to 9.21).
public enum ProcessKind: Hashable, Sendable {
    /// An app.
    case app
    /// An iPad app on a Mac, where `ProcessInfo.isiOSAppOnMac` is true. Background modes have no effect in it
    /// (behaviour 9.19).
    case iOSAppOnMac
    /// An app extension, with the identifier of its extension point (behaviour 9.20).
    case appExtension(point: String)
    /// A program without a bundle (behaviour 9.21).
    case commandLineProgram
    /// A bundle of another type, with its `CFBundlePackageType`.
    case other(packageType: String)

    /// The extension point of extensions that relay data to an accessory.
    public static let transportExtensionPoint = "com.apple.accessory-transport-extension"

    /// Creates the kind that a property list of Apple's form declares. A value of the wrong type counts as missing.
    ///
    /// - Parameters:
    ///   - propertyList: The contents of an `Info.plist`; other keys are ignored.
    ///   - isManaged: Whether the process has the life cycle of an iOS app.
    init(propertyList: [String: Any], isManaged: Bool) {
        let newer = propertyList["EXAppExtensionAttributes"] as? [String: Any]
        let older = propertyList["NSExtension"] as? [String: Any]
        let packageType = propertyList["CFBundlePackageType"] as? String
        if newer != nil || older != nil || packageType == "XPC!" {
            let point = newer?["EXExtensionPointIdentifier"] ?? older?["NSExtensionPointIdentifier"]
            self = .appExtension(point: point as? String ?? "")
        } else if let packageType, packageType != "APPL" {
            self = .other(packageType: packageType)
        } else if propertyList["HaraldOnMac"] as? Bool == true {
            self = .iOSAppOnMac
        } else {
            let isBundle = packageType != nil || propertyList["CFBundleIdentifier"] is String
            self = isManaged || isBundle ? .app : .commandLineProgram
        }
    }

    /// Whether the process is an app extension.
    package var isExtension: Bool { if case .appExtension = self { true } else { false } }

    /// The name in documents of tools.
    package var name: String { fields.name }

    /// The number on the wire, the name, and the extension point or package type.
    var fields: (number: UInt8, name: String, detail: String) {
        switch self {
        case .app: (0, "app", "")
        case .iOSAppOnMac: (1, "iOSAppOnMac", "")
        case .appExtension(let point): (2, "appExtension", point)
        case .commandLineProgram: (3, "commandLineProgram", "")
        case .other(let packageType): (4, "other", packageType)
        }
    }

    /// Creates the kind with a number on the wire; nil if there is none.
    init?(_ number: UInt8, _ detail: String) {
        switch number {
        case 0: self = .app
        case 1: self = .iOSAppOnMac
        case 2: self = .appExtension(point: detail)
        case 3: self = .commandLineProgram
        case 4: self = .other(packageType: detail)
        default: return nil
        }
    }
}
