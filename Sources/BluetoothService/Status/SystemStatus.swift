import Foundation

/// How a system is at a moment: what `harald status --json` prints. The names of the fields stay as they are, here and in what is in
/// it; what there is nothing of is left out. Numbers have the units that their names say.
package struct SystemStatus: Codable, Hashable, Sendable {
    /// `poweredOn`, `poweredOff`, `resetting`, `unsupported` or `unknown`, as managers see it.
    package var state: String
    /// Why there is no controller that works, or why the last one did not.
    package var failure: String?
    /// What is done about a controller that fails, or failed a moment ago.
    package var recovery: RecoveryStatus?
    package var controller: ControllerStatus?
    /// The apps that run, or sleep.
    package var apps: [AppStatus]
    /// The links that are up, the oldest first.
    package var links: [LinkStatus]
    package var scans: [ScanStatus]
    package var advertising: [AdvertisingStatus]
    /// What is kept of apps whose process is gone.
    package var preserved: [PreservedStatus]
    /// The last troubles, the newest first.
    package var troubles: [TroubleStatus]
}

/// Something that went wrong.
package struct TroubleStatus: Codable, Hashable, Sendable {
    /// What happened, to what, why, and what to do.
    package var text: String
    /// `notice`, `warning` or `error`.
    package var weight: String
    /// How often it happened.
    package var count: Int
    /// Seconds since it happened last.
    package var secondsAgo: Double
}

/// How far recovery has come.
package struct RecoveryStatus: Codable, Hashable, Sendable {
    /// The step that was taken last: 1 reset, 2 a new line, 3 a reset of the device, 4 power.
    package var step: Int
    /// Why.
    package var cause: String
    /// What a person can do, when only that helps.
    package var advice: String?
}

/// The controller that is attached.
package struct ControllerStatus: Codable, Hashable, Sendable {
    /// Where it is attached; empty where the host does not know.
    package var place: String
    /// Its public address, if it has one.
    package var address: String?
    /// The address that centrals see while something is advertised.
    package var advertisedAddress: String?
    /// The maker, by the number that the Bluetooth SIG gave it.
    package var company: Int
    /// The version of HCI, by its number there.
    package var version: Int
    package var subversion: Int
    /// Whether it is driven with the commands of version 5.0.
    package var hasExtendedAdvertising: Bool?
    /// Whether its packets on the air may be longer than 27 octets.
    package var hasLongPackets: Bool?
    /// Packets of data that it holds.
    package var buffers: Int?
    /// Peers whose private addresses it resolves.
    package var resolvingListSize: Int?
}

/// An app.
package struct AppStatus: Codable, Hashable, Sendable {
    /// The bundle identifier, or the name of the executable.
    package var name: String
    /// What persons call it, where that is something else.
    package var displayName: String?
    /// The number of the user that it runs as.
    package var owner: UInt32
    /// `foreground`, `background`, `suspended` or `notRunning`.
    package var phase: String
    /// Whether its life is as on a phone.
    package var isManaged: Bool
    /// True for an app that is woken less often, since it has overrun its time in the background (behaviour 9.7).
    package var isSlowedDown: Bool?
    /// `allowedAlways`, `denied`, `restricted` or `notDetermined`.
    package var permission: String
    /// The path of the program; nil where it is not known.
    package var executable: String?
    package var managers: [ManagerStatus]
}

/// A manager of an app.
package struct ManagerStatus: Codable, Hashable, Sendable {
    /// Its number in its app.
    package var number: UInt32
    /// `central` or `peripheral`.
    package var role: String
    package var restoreIdentifier: String?
    /// The state that it was told last.
    package var state: String
}

/// A link to a peer.
package struct LinkStatus: Codable, Hashable, Sendable {
    /// What apps call the peer.
    package var peer: UUID
    package var name: String?
    /// The role of this system: `central` or `peripheral`.
    package var role: String
    /// The number of the link in HCI.
    package var handle: Int
    /// `public`, `random`, `public identity` or `random identity`.
    package var addressType: String
    /// Octets of a message of the attribute protocol.
    package var mtu: Int
    package var intervalMicroseconds: Int
    /// `none`, `encrypted`, or `authenticated` when nobody can be in the middle.
    package var encryption: String
    package var isBonded: Bool
    /// The apps that are connected to the peer.
    package var apps: [String]
    /// The numbers of the users whose apps these are.
    package var owners: [UInt32]
}

/// A scan of an app.
package struct ScanStatus: Codable, Hashable, Sendable {
    package var app: String
    /// The number of the user that the app runs as.
    package var owner: UInt32
    /// The services that it looks for; none for all.
    package var services: [String]
    package var allowsDuplicates: Bool
    /// Whether it goes on where the app is in its life.
    package var isActive: Bool
}

/// What an app advertises.
package struct AdvertisingStatus: Codable, Hashable, Sendable {
    package var app: String
    /// The number of the user that the app runs as.
    package var owner: UInt32
    package var localName: String?
    package var services: [String]
    /// `whole`, `hidden` for an app in the background (behaviour 7.24), or `none`.
    package var shown: String
}

/// What is kept of an app whose process is gone (behaviour 10.4).
package struct PreservedStatus: Codable, Hashable, Sendable {
    package var app: String
    package var owner: UInt32
    /// Restore identifiers of central managers.
    package var centrals: [String]
    /// Restore identifiers of peripheral managers.
    package var peripherals: [String]
    /// Processes in a row that ended early (behaviour 10.25).
    package var earlyEnds: Int?
    /// Seconds until the app may be launched again.
    package var launchPauseSeconds: Double?
}

/// All apps: what `harald app list --json` prints.
package struct AppsStatus: Codable, Hashable, Sendable {
    package var apps: [AppStatus]
    package var preserved: [PreservedStatus]
    /// The names of those that can be launched.
    package var installed: [String]
    /// The decisions about apps, running or not, that a person has made.
    package var permissions: [PermissionStatus]
}

/// A person's decision about an app.
package struct PermissionStatus: Codable, Hashable, Sendable {
    package var app: String
    /// The number of the user that the app runs as.
    package var owner: UInt32
    /// `allowedAlways`, `denied`, `restricted` or `notDetermined`.
    package var permission: String
    /// The path of the program that was decided about; nil for every program of the app.
    package var executable: String?
}

/// A device that the system knows: one of what `harald devices --json` prints.
package struct DeviceStatus: Codable, Hashable, Sendable {
    /// Devices that are shown: with the longest names that there are, so many fit in one message (AB-G02).
    package static let maximumShown = 512

    /// What apps call it.
    package var identifier: UUID
    package var name: String?
    /// How strong its last advertisement was, in dBm.
    package var rssi: Int?
    /// Seconds since it was last heard advertising.
    package var lastSeenSeconds: Double?
    package var isConnected: Bool
    package var isBonded: Bool
}

/// A device that the system is paired with: one of what `harald bonds --json` prints. Its keys are not in it.
package struct BondStatus: Codable, Hashable, Sendable {
    /// What apps call it.
    package var identifier: UUID
    package var name: String?
    /// Whether nobody can have been in the middle when its keys were made.
    package var authenticated: Bool
    /// Whether it has removed its pairing information, so that it is refused (behaviour 6.12).
    package var hasForgottenUs: Bool

    /// What is shown of a bond.
    package init(identifier: UUID, name: String?, authenticated: Bool, hasForgottenUs: Bool) {
        self.identifier = identifier
        self.name = name
        self.authenticated = authenticated
        self.hasForgottenUs = hasForgottenUs
    }
}
