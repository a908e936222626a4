import BluetoothTypes
import Bonds
import GAP
import GATT
import Privacy
import SMP

/// How a Bluetooth system presents itself and behaves.
package struct SystemConfiguration: Sendable {
    /// Where bonds are kept, and with them the identity of the system.
    package enum Store: Hashable, Sendable {
        /// Nowhere: they are gone with the system.
        case memory
        /// In this directory, which is made if there is none.
        case directory(String)
    }

    /// The name in the Generic Access service, up to 248 octets of UTF-8.
    package var deviceName = "Harald"
    /// What the device looks like, a number from Bluetooth Assigned Numbers 2.6; 0 for unknown.
    package var appearance: UInt16 = 0
    /// The address on the air.
    package var address = OwnAddressPolicy.resolvablePrivate
    /// How long an address is shown that changes from time to time (behaviour 6.17).
    package var privacyInterval = Duration.seconds(900)
    /// The ATT MTU that is offered, 23 to 517. An iPhone offers 185: seven packets of 27 octets (behaviour 14.6).
    package var preferredMTU = 185
    /// Whether the attribute protocol may use enhanced bearers with peers that have them. Apps see no difference except in speed.
    package var usesEnhancedBearers = true
    /// How long a link stays up after its last user has let go. Apple's systems wait about five seconds (behaviour 3.11); here
    /// it ends at once unless told otherwise.
    package var linger = Duration.zero
    /// How the system pairs; what it can show and take in above all (behaviour 6.7).
    package var pairing = PairingConfiguration()
    /// Whether values that apps protect are for centrals alone that paired with a code, so that nobody can have been in the
    /// middle (behaviour 6.9). A system that can neither show nor take in a code cannot ask for it.
    package var demandsAuthenticatedCentrals = true
    /// Whether peers that ask for this system's notifications may have them (behaviour 3.19). The system publishes none itself.
    package var sharesNotifications = false
    /// Whether apps with the mode may start advertising while they are in the background, on all versions (behaviour 7.25).
    package var startsAdvertisingInBackground = true
    /// Which version's rules hold where they differ.
    package var version = SystemVersion.newest
    /// Whether apps may use Bluetooth of which nothing else was said (behaviour 1.18).
    package var permission = AppPermission.allowedAlways
    /// The number of the user that the service runs as.
    package var user: UInt32 = 0
    /// Where bonds are kept.
    package var store = Store.memory
    /// The name of this run of the device, another one each time that it is switched on; nil where nobody knows. What is kept for a run
    /// only outlives the service by it (behaviour 4.12).
    package var run: String?
    /// Most bonds. The unauthenticated one that was used longest ago gives way to a new one (AB-S14).
    package var maximumBonds = BondStore.maximumBonds

    /// When the system's loop began, in seconds since the beginning of 2001, UTC; nil for a system without a calendar.
    package var loopStart: Double?

    /// The configuration of an ordinary system.
    package init() {}

    /// Keeps bonds, and what outlives the service, in a directory of this machine.
    package mutating func keep(in directory: String) {
        store = .directory(directory)
        run = HostRun.current
    }

    /// Whether apps with the mode may start advertising in the background.
    var mayStartAdvertisingInBackground: Bool {
        startsAdvertisingInBackground || version.startsAdvertisingInBackground
    }

    /// What attributes that require encryption ask of the link.
    var protectedValuesRequirement: SecurityLevel {
        demandsAuthenticatedCentrals && pairing.ioCapability != .noInputNoOutput ? .authenticated : .encrypted
    }
}
