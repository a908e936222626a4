import BluetoothTypes
import Foundation

/// A message of a tool to the service, after ``Opening/tool(version:)``.
public enum ToolMessage: Hashable, Sendable {
    /// A question. The answer repeats its number, which the tool chooses and may reuse after the answer.
    case ask(number: UInt32, ToolQuestion)
    /// The user's answer to ``ToolReply/prompt(number:_:)``.
    case answer(number: UInt32, PersonAnswer)
    /// Ends the stream that the question with this number started. The answer is the last message of the stream.
    case stop(number: UInt32)
}

/// A question of a tool.
public enum ToolQuestion: Hashable, Sendable {
    /// The state of the system.
    case status
    /// The devices known to the system.
    case devices
    /// The bonded devices, without their keys.
    case bonds
    /// Removes the bond of a device (behaviour 6.12).
    case forgetBond(UUID)
    /// A stream of events of the kinds whose bits are set. Answered when it ends.
    case monitor(kinds: UInt16)
    /// Registers the tool to show prompts to the user. Answered when that ends.
    case prompts
    /// The apps that are running, kept, or installed.
    case apps
    /// Applies a command to the app of this name. `owner` is the number of its user; nil if only one user has an app of
    /// this name.
    case app(AppVerb, name: String, owner: UInt32? = nil)
    /// Changes an accessory of the app of this name, as in ``app(_:name:owner:)``.
    case accessory(UUID, AccessoryVerb, name: String, owner: UInt32? = nil)
    /// A stream of advice for the developers of apps, about what they do from now on. Answered when it ends.
    case advice
    /// The same about the apps of the process that asks, which needs no rights. Answered when it ends.
    case ownAdvice
    /// A stream of the HCI packets between the host and its controller from now on, without keys. Each event carries
    /// several packets. Answered when it ends.
    case packets
}

/// A command for an app.
public enum AppVerb: UInt8, Hashable, Sendable, CaseIterable {
    /// Launches the process of the app.
    case launch
    /// Moves it to the background.
    case background
    /// Moves it to the foreground.
    case foreground
    /// Suspends the app in the background.
    case suspend
    /// Ends its process as for lack of memory; its scans, connections and advertising continue.
    case terminate
    /// Ends it on behalf of the user: nothing of it continues (behaviour 10.16).
    case forceQuit
    /// Resets its permission to use Bluetooth.
    case resetPermission
    /// Denies it Bluetooth in the settings, which ends a managed app that is running (behaviour 1.27).
    case revokePermission
    /// Starts a Live Activity of the app, which is in the foreground (behaviour 9.18).
    case startLiveActivity
    /// Ends the app's Live Activity.
    case endLiveActivity
}

/// A message of the service to a tool.
public enum ToolReply: Hashable, Sendable {
    /// The answer to the question with this number: JSON, or an error.
    case answer(number: UInt32, Result<String, ServiceError>)
    /// An event as a line of JSON, in the stream with this number.
    case event(number: UInt32, String)
    /// A prompt for the user. The number is assigned by the service, independently of ``ToolMessage/ask(number:_:)``; 0
    /// for a prompt without an answer.
    case prompt(number: UInt32, PersonQuestion)
    /// The prompt with this number is no longer needed.
    case promptClosed(number: UInt32)
    /// The service closes the conversation for this reason.
    case goodbye(ServiceError)
}

/// A question or a notice for the user.
public enum PersonQuestion: Hashable, Sendable {
    /// A question or passkey of a pairing.
    case pairing(PairingQuestion)
    /// Whether an app may use Bluetooth (behaviour 1.18).
    case permission(AppQuestion)
    /// A notice without an answer.
    case notice(String)
    /// A question about accessories of an app. Another one of the same app replaces it.
    case accessory(AccessoryQuestion)
}

/// The question whether an app may use Bluetooth (behaviour 1.18).
///
/// Each text is one line of bounded length without control characters, so that an app cannot imitate texts of the
/// system (AB-G07).
public struct AppQuestion: Hashable, Sendable {
    /// The maximum length of names and identifiers, in Unicode scalars.
    package static let maximumName = 64
    /// The maximum length of the usage description, in Unicode scalars.
    package static let maximumUsage = 200
    /// The maximum length of the path, in Unicode scalars.
    package static let maximumExecutable = 256

    /// The identifier that the app claims.
    public var identifier: String
    /// The number of the user that it runs as, according to the kernel.
    public var owner: UInt32
    /// The display name that the app has chosen; nil if it is shown by its identifier.
    public var displayName: String?
    /// The app's description of its use of Bluetooth; nil if it has none.
    public var usage: String?
    /// The path of the program that it runs, according to the kernel; nil if it is not known.
    public var executable: String?

    /// Creates a question about an app, with its texts reduced to one line and cut to their limits.
    ///
    /// - Parameters:
    ///   - app: The identity of the app.
    ///   - displayName: The display name that the app has chosen; nil if it is shown by its identifier.
    ///   - usage: The app's description of its use of Bluetooth; nil if it has none (behaviour 1.19).
    ///   - executable: The path of the program that it runs; nil if it is not known.
    public init(
        _ app: AppIdentity,
        displayName: String? = nil,
        usage: String? = nil,
        executable: String? = nil
    ) {
        identifier = app.name.oneLine(Self.maximumName)
        owner = app.owner
        self.displayName = displayName?.oneLine(Self.maximumName)
        self.usage = usage?.oneLine(Self.maximumUsage)
        self.executable = executable?.oneLine(Self.maximumExecutable)
    }
}

/// A question or a passkey for the user while two devices pair.
public struct PairingQuestion: Hashable, Sendable {
    /// The maximum length of a device name that is shown, in Unicode scalars.
    package static let maximumName = 64
    /// The maximum number of apps that a question names. Further ones are left out.
    package static let maximumApps = 4

    /// The kind of a prompt.
    public enum Kind: Hashable, Sendable {
        /// Whether to pair, without MITM protection.
        case confirm
        /// Whether to pair again with a device that has not proved that it still has its keys.
        case confirmReplacement
        /// A passkey to be entered on the other device. The only possible answer is to refuse.
        case showPasskey(UInt32)
        /// Asks for the passkey that the other device shows.
        case enterPasskey
        /// Whether the other device shows this number too.
        case compare(UInt32)
        /// Asks for a passkey that the user makes up and enters on both devices, neither of which shows one (AB-S17).
        case enterPasskeyOnBoth
    }

    /// The side that began the pairing (AB-S16).
    public enum Origin: Hashable, Sendable {
        /// The other device began.
        case peer
        /// These apps need it; empty if they are gone.
        case apps([AppIdentity])

        /// The apps and their verb, to follow "as": `"Mail" of user 1000 asks`. Nil if the other device began.
        package var asking: String? {
            guard case .apps(let apps) = self else { return nil }
            let names = apps.isEmpty ? ["an app here"] : apps.map(\.label)
            return names.joined(separator: " and ") + (names.count == 1 ? " asks" : " ask")
        }
    }

    /// The kind of the prompt.
    public var kind: Kind
    /// The side that began the pairing.
    public var origin = Origin.peer
    /// The name that the other device has chosen, as one line; nil if it has none.
    public var peerName: String?
    /// The address of the other device.
    public var peerAddress: String
    /// The identifier that apps use for the other device; nil if it is not known.
    public var peer: UUID?
    /// Whether only apps in the background are waiting for the pairing. The prompt then waits like a notification
    /// (behaviour 6.21).
    public var isInBackground = false

    /// Creates a question about a device.
    ///
    /// - Parameters:
    ///   - kind: The kind of the prompt.
    ///   - peerName: The name that the other device has chosen; nil if it has none.
    ///   - peerAddress: The address of the other device.
    ///   - peer: The identifier that apps use for the other device; nil if it is not known.
    public init(_ kind: Kind, peerName: String? = nil, peerAddress: String, peer: UUID? = nil) {
        self.kind = kind
        self.peerName = peerName
        self.peerAddress = peerAddress
        self.peer = peer
    }
}

/// The user's answer to a prompt.
public enum PersonAnswer: Hashable, Sendable {
    /// Agrees to pair with the device.
    case accept
    /// Refuses to pair with the device.
    case refuse
    /// The six-digit passkey that the other device shows, or that the user enters on both, 0 to 999,999.
    case passkey(UInt32)
    /// Let the app use Bluetooth.
    case allow
    /// Do not let the app use Bluetooth.
    case deny
    /// Set up this accessory.
    case choose(UUID)
    /// Give the accessory this name.
    case name(String)
}
