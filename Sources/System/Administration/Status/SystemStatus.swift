import Foundation
import ServiceEvents

/// A snapshot of a system: the output of `harald status --json`. The names of the fields are stable, here and in the
/// nested types. Fields without a value are omitted. Numbers have the units in their names.
package struct SystemStatus: Codable, Hashable, Sendable {
    /// `poweredOn`, `poweredOff`, `resetting`, `unsupported` or `unknown`, as reported to managers.
    package var state: String
    /// Why there is no working controller, or why the last one stopped working.
    package var failure: String?
    /// The recovery of a controller that fails or has failed recently.
    package var recovery: RecoveryStatus?
    package var controller: ControllerStatus?
    /// The apps that are running or suspended.
    package var apps: [AppStatus]
    /// The established links, the oldest first.
    package var links: [LinkStatus]
    package var scans: [ScanStatus]
    package var advertising: [AdvertisingStatus]
    /// The preserved state of apps whose process is gone.
    package var preserved: [PreservedStatus]
    /// The most recent troubles, the latest first.
    package var troubles: [TroubleStatus]
    /// The charge that the apps drew from the battery, if the service was asked to estimate that.
    package var energy: EnergyStatus?
}

/// A problem that occurred.
package struct TroubleStatus: Codable, Hashable, Sendable {
    /// A description that states the event, its subject, the reason, and what to do.
    package var text: String
    /// `notice`, `warning` or `error`.
    package var weight: String
    package var count: Int
    /// Seconds since the last occurrence.
    package var secondsAgo: Double
}

/// The progress of recovery.
package struct RecoveryStatus: Codable, Hashable, Sendable {
    /// The last step taken: 1 reset, 2 a new transport, 3 a reset of the device, 4 power.
    package var step: Int
    /// The error that caused it.
    package var cause: String
    /// The advice to the user, if no step can repair the controller.
    package var advice: String?
}

/// The controller that is attached.
package struct ControllerStatus: Codable, Hashable, Sendable {
    /// The place where the controller is attached. Empty if the host does not know.
    package var place: String
    /// The public address, if there is one.
    package var address: String?
    /// The address that is visible to centrals while there is an advertisement.
    package var advertisedAddress: String?
    /// The manufacturer, by its Bluetooth SIG company identifier.
    package var company: Int
    /// The HCI version, by its assigned number.
    package var version: Int
    package var subversion: Int
    /// Whether the host uses the extended commands of version 5.0.
    package var hasExtendedAdvertising: Bool?
    /// Whether packets on the air may be longer than 27 octets.
    package var hasLongPackets: Bool?
    /// The number of data packets that the controller buffers.
    package var buffers: Int?
    /// The number of peers in the resolving list of the controller.
    package var resolvingListSize: Int?
}

package struct AppStatus: Codable, Hashable, Sendable {
    /// The bundle identifier, or the name of the executable.
    package var name: String
    /// The app's name for the user, if it has one.
    package var displayName: String?
    /// The user ID of the app.
    package var owner: UInt32
    /// `foreground`, `background`, `suspended` or `notRunning`.
    package var phase: String
    /// Whether the app has the life cycle of an iOS app.
    package var isManaged: Bool
    /// `appExtension`, `iOSAppOnMac` or `other`; nil for apps and command-line programs (behaviours 9.19 to 9.21).
    package var kind: String?
    /// True if the app is woken less often because it overran its time in the background (behaviour 9.7).
    package var isSlowedDown: Bool?
    /// True if the app has a Live Activity (behaviour 9.17).
    package var hasLiveActivity: Bool?
    /// `allowedAlways`, `denied`, `restricted` or `notDetermined`.
    package var permission: String
    /// The path of the executable, or nil if unknown.
    package var executable: String?
    package var managers: [ManagerStatus]
}

/// A manager of an app.
package struct ManagerStatus: Codable, Hashable, Sendable {
    /// The number of the manager within its app.
    package var number: UInt32
    /// The role of the manager: `central`, `peripheral`, `accessorySetup` for a session of AccessorySetupKit, or
    /// `activities` for the Live Activities of the app.
    package var role: String
    package var restoreIdentifier: String?
    /// The last state reported to the manager.
    package var state: String
}

/// A link to a peer.
package struct LinkStatus: Codable, Hashable, Sendable {
    /// The identifier that apps know the peer by.
    package var peer: UUID
    package var name: String?
    /// The role of this system: `central` or `peripheral`.
    package var role: String
    /// The HCI connection handle.
    package var handle: Int
    /// `public`, `random`, `public identity` or `random identity`.
    package var addressType: String
    /// The ATT MTU, in octets.
    package var mtu: Int
    package var intervalMicroseconds: Int
    /// `none`, `encrypted`, or `authenticated` if the key has MITM protection.
    package var encryption: String
    package var isBonded: Bool
    /// The apps that are connected to the peer.
    package var apps: [String]
    /// The user IDs of these apps.
    package var owners: [UInt32]
}

/// A scan of an app.
package struct ScanStatus: Codable, Hashable, Sendable {
    package var app: String
    package var owner: UInt32
    /// The services to scan for. Empty for all.
    package var services: [String]
    package var allowsDuplicates: Bool
    /// Whether the scan is active in the current phase of the app's life cycle.
    package var isActive: Bool
}

/// The advertisement of an app.
package struct AdvertisingStatus: Codable, Hashable, Sendable {
    package var app: String
    package var owner: UInt32
    package var localName: String?
    package var services: [String]
    /// `whole`, `hidden` for an app in the background (behaviour 7.24), or `none`.
    package var shown: String
}

/// The preserved state of an app whose process is gone (behaviour 10.4).
package struct PreservedStatus: Codable, Hashable, Sendable {
    package var app: String
    package var owner: UInt32
    package var centrals: [String]
    package var peripherals: [String]
    /// The number of consecutive processes that ended early (behaviour 10.25).
    package var earlyEnds: Int?
    /// Seconds until the app may be launched again.
    package var launchPauseSeconds: Double?
}

/// All apps: the output of `harald app list --json`.
package struct AppsStatus: Codable, Hashable, Sendable {
    package var apps: [AppStatus]
    package var preserved: [PreservedStatus]
    /// The names of the apps that can be launched.
    package var installed: [String]
    /// The user's decisions about apps, running or not.
    package var permissions: [PermissionStatus]
    /// The accessories that apps have set up with AccessorySetupKit (behaviour 1.23); nil if there are none.
    package var accessories: [AccessoryStatus]?
}

/// An accessory of an app.
package struct AccessoryStatus: Codable, Hashable, Sendable {
    package var app: String
    package var owner: UInt32
    /// The identifier that the app knows the accessory by.
    package var identifier: UUID
    /// The name for the user.
    package var name: String
    /// `authorized` or `awaitingAuthorization`.
    package var state: String
}

/// The user's decision about an app.
package struct PermissionStatus: Codable, Hashable, Sendable {
    package var app: String
    package var owner: UInt32
    /// `allowedAlways`, `denied`, `restricted` or `notDetermined`.
    package var permission: String
    /// The path of the program that the decision applies to. Nil for every program of the app.
    package var executable: String?
}

/// A device that is known to the system: an element of the output of `harald devices --json`.
package struct DeviceStatus: Codable, Hashable, Sendable {
    /// The maximum number of devices shown. That many fit in one message even with the longest names (AB-G02).
    package static let maximumShown = 512

    /// The identifier that apps know the device by.
    package var identifier: UUID
    package var name: String?
    /// The signal strength of its last advertisement, in dBm.
    package var rssi: Int?
    /// Seconds since its last advertisement.
    package var lastSeenSeconds: Double?
    package var isConnected: Bool
    package var isBonded: Bool
}

/// A bonded device: an element of the output of `harald bonds --json`. It contains no keys.
package struct BondStatus: Codable, Hashable, Sendable {
    /// The identifier that apps know the device by.
    package var identifier: UUID
    package var name: String?
    /// Whether the bond has MITM protection.
    package var authenticated: Bool
    /// Whether the device has removed its pairing information, so that it is refused (behaviour 6.12).
    package var hasForgottenUs: Bool

    package init(identifier: UUID, name: String?, authenticated: Bool, hasForgottenUs: Bool) {
        self.identifier = identifier
        self.name = name
        self.authenticated = authenticated
        self.hasForgottenUs = hasForgottenUs
    }
}
