import BluetoothService

/// The keys by which an app that the system launches is told which managers to make, with the strings of Apple's UIKit, which there
/// is only on Apple's systems (behaviour 10.6).
public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
    /// The string.
    public let rawValue: String

    /// A key by its string.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The restore identifiers of central managers.
    public static let bluetoothCentrals = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey")
    /// The restore identifiers of peripheral managers.
    public static let bluetoothPeripherals = LaunchOptionsKey(
        rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey"
    )
}

extension RestoreIdentifiers {
    /// As an app delegate gets them; a role without managers has no key.
    public var launchOptions: [LaunchOptionsKey: [String]] {
        let all: [LaunchOptionsKey: [String]] = [.bluetoothCentrals: centrals, .bluetoothPeripherals: peripherals]
        return all.filter { !$0.value.isEmpty }
    }
}

/// What an app delegate is handed on Apple's systems when its app is launched.
public enum LaunchOptions {
    /// Those of this process, or of the simulated app that the code belongs to: empty for one that was not launched by the Bluetooth
    /// service to hear of something.
    public static var current: [LaunchOptionsKey: [String]] {
        (ServiceLocator.current?.launchedFor ?? .ofThisLaunch).launchOptions
    }
}
