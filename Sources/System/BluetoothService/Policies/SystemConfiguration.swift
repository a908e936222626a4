import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import SMP
import Security
import ServiceMessages

/// The configuration of a Bluetooth system.
package struct SystemConfiguration: Sendable {
    /// The storage for bonds and the identity of the system.
    package enum Store: Hashable, Sendable {
        /// In memory. Bonds are lost with the system.
        case memory
        /// In this directory, which is created if necessary.
        case directory(String)
    }

    /// The name in the Generic Access service, up to 248 octets of UTF-8.
    package var deviceName = "Harald"
    /// The appearance, a number from Bluetooth Assigned Numbers 2.6, or 0 for unknown.
    package var appearance: UInt16 = 0
    /// The policy for the device's address on the air.
    package var address = OwnAddressPolicy.resolvablePrivate
    /// How long a private address is used before it changes (behaviour 6.17).
    package var privacyInterval = Duration.seconds(900)
    /// The ATT MTU to offer, 23 to 517. An iPhone offers 185: seven packets of 27 octets (behaviour 14.6).
    package var preferredMTU = 185
    /// Whether the attribute protocol uses enhanced bearers if the peer supports them. Apps notice only the speed.
    package var usesEnhancedBearers = true
    /// The deviations of this system's advertisements from those of Apple's devices.
    package var advertising = AdvertisingException()
    /// How long a link stays up after its last user has released it. Apple's systems wait about five seconds
    /// (behaviour 3.11). By default a link ends at once.
    package var linger = Duration.zero
    /// The pairing configuration, above all the I/O capability (behaviour 6.7).
    package var pairing = PairingConfiguration()
    /// The response of this system, as central, to a peer that no longer has the bond (behaviour 6.12).
    package var lostBonds = SecurityPolicy.LostBonds.refused
    /// Whether protected values of apps require a central whose bond has MITM protection (behaviour 6.9). A system with
    /// neither display nor input cannot require that.
    package var demandsAuthenticatedCentrals = true
    /// Whether apps can publish descriptors of any type but those with a function in GATT. Apple's systems publish 2901
    /// and 2904 only (behaviour 7.8).
    package var publishesAnyDescriptor = false
    /// Whether peers may receive this system's notifications on request (behaviour 3.19). It publishes none itself.
    package var sharesNotifications = false
    /// Whether apps with the background mode may start advertising in the background in all versions (behaviour 7.25).
    package var startsAdvertisingInBackground = true
    /// Whether, from iOS 26 on, only apps with AccessorySetupKit come back after the switch in Control Centre and after
    /// airplane mode: note 5 of TN3115 by its letter (behaviour 10.28).
    package var restoresOnlySetUpApps = false
    /// The version of iOS whose rules apply where versions differ.
    package var version = SystemVersion.newest
    /// Whether the region allows to measure distances by Channel Sounding (behaviour 17.2).
    package var allowsChannelSounding = true
    /// The permission of apps for which there is no decision (behaviour 1.18).
    package var permission = AppPermission.allowedAlways
    package var user: UInt32 = 0
    package var store = Store.memory
    /// Identifies the current boot of the device, or nil if unknown. It lets state that is only valid until the next
    /// boot outlive the service (behaviour 4.12).
    package var run: String?
    /// The maximum number of bonds. A new bond evicts the least recently used unauthenticated one (AB-S14).
    package var maximumBonds = BondStore.maximumBonds

    /// The start of the system's loop, in seconds since the beginning of 2001, UTC; nil without a calendar.
    package var loopStart: Double?

    package init() {}

    /// Keeps bonds and records in a directory of this machine.
    package mutating func keep(in directory: String) {
        store = .directory(directory)
        run = HostRun.current
    }

    /// Whether apps with the background mode may start advertising in the background.
    var mayStartAdvertisingInBackground: Bool {
        startsAdvertisingInBackground || version.has(.advertisingStartedInBackground)
    }

    /// The response of this system, as central, to a peer that no longer has the bond. Before iOS 13.4 it paired again
    /// (behaviour 6.12).
    var lostBondsInVersion: SecurityPolicy.LostBonds { version.has(.lostBondsRefused) ? lostBonds : .asked }

    /// Returns the time of an instant, in seconds since the beginning of 2001, UTC; nil without a calendar.
    package func calendarTime(at instant: Instant) -> Double? {
        loopStart.map { $0 + Double(instant.nanoseconds) / 1_000_000_000 }
    }

    /// Returns the time until it is 5:00, UTC, at which a switch-off in Control Centre ends (behaviour 1.17); nil without
    /// a calendar.
    func timeUntilFive(from instant: Instant) -> Duration? {
        guard let now = calendarTime(at: instant) else { return nil }
        let day = 24.0 * 3_600
        let sinceFive = (now - 5 * 3_600).truncatingRemainder(dividingBy: day)
        return .milliseconds(Int64((day - (sinceFive < 0 ? sinceFive + day : sinceFive)) * 1_000))
    }

    /// The security level that attributes with the encryption requirement demand of a link.
    var protectedValuesRequirement: SecurityLevel {
        demandsAuthenticatedCentrals && pairing.ioCapability != .noInputNoOutput ? .authenticated : .encrypted
    }
}

/// The current boot of this machine.
enum HostRun {
    /// The random boot ID from the kernel (random(4)), or nil if unavailable.
    static let current: String? = {
        guard let octets = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") else { return nil }
        let name = String(decoding: octets.prefix(64), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? nil : name
    }()
}
