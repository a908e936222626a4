import ServiceMessages

/// A key of the launch options, which tell an app that the system launches which managers to create (behaviour 10.6).
///
/// The strings are those of Apple's UIKit, which does not exist on other systems.
public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
    /// The key as a string.
    public let rawValue: String

    /// Creates a key from its string.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The restore identifiers of the central managers to create.
    public static let bluetoothCentrals = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey")
    /// The restore identifiers of the peripheral managers to create.
    public static let bluetoothPeripherals = LaunchOptionsKey(
        rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey"
    )
}

extension RestoreIdentifiers {
    /// The identifiers as launch options. A role without managers has no key.
    public var launchOptions: [LaunchOptionsKey: [String]] {
        let all: [LaunchOptionsKey: [String]] = [.bluetoothCentrals: centrals, .bluetoothPeripherals: peripherals]
        return all.filter { !$0.value.isEmpty }
    }
}

/// The launch options that an app delegate receives on Apple's systems.
public enum LaunchOptions {
    /// The launch options of this process, or of the simulated app that the code belongs to. Empty unless the Bluetooth
    /// service has launched it for an event (behaviour 10.6).
    public static var current: [LaunchOptionsKey: [String]] {
        (ServiceLocator.found?.launchedFor ?? .ofThisLaunch).launchOptions
    }
}
