import BluetoothTypes
import Foundation

/// What a tool of the person's says to the service, after ``Opening/tool(version:)``.
public enum ToolMessage: Hashable, Sendable {
    /// Asks; the answer has the same number, which the tool chooses. A number is free again when its answer has come.
    case ask(number: UInt32, ToolQuestion)
    /// What the person does about ``ToolReply/prompt(number:_:)``.
    case answer(number: UInt32, PersonAnswer)
    /// Ends the stream that was asked for with this number; its answer comes as the last of it.
    case stop(number: UInt32)
}

/// What a tool asks.
public enum ToolQuestion: Hashable, Sendable {
    /// How the system is.
    case status
    /// The devices that the system knows.
    case devices
    /// The devices that the system is paired with, without their keys.
    case bonds
    /// Forgets a device that the system is paired with (behaviour 6.12).
    case forgetBond(UUID)
    /// A stream of what happens, of the kinds whose bits are set. It is answered when it ends.
    case monitor(kinds: UInt16)
    /// The tool puts questions to a person from now on. It is answered when that ends.
    case prompts
    /// The apps that run, that are kept, and that can be launched.
    case apps
    /// Does something to the app of this name. The owner is the number of its user; nil where one user alone has an app of this name.
    case app(AppVerb, name: String, owner: UInt32? = nil)
}

/// What can be done to an app.
public enum AppVerb: UInt8, Hashable, Sendable, CaseIterable {
    /// Starts its process.
    case launch
    /// Leaves it for another one.
    case background
    /// Brings it in front of the person.
    case foreground
    /// Lets it run no more for now.
    case suspend
    /// Ends its process as a system does that needs the memory: what the app wants goes on.
    case terminate
    /// Ends it as the person does: nothing of it goes on (behaviour 10.16).
    case forceQuit
    /// Forgets whether it may use Bluetooth.
    case resetPermission
    /// Denies it Bluetooth in the settings, which ends a managed app that runs (behaviour 1.27).
    case revokePermission
}

/// What the service says to a tool.
public enum ToolReply: Hashable, Sendable {
    /// The answer to the question of this number: JSON, or why there is none.
    case answer(number: UInt32, Result<String, ServiceError>)
    /// Something happened: a line of JSON in the stream of this number.
    case happening(number: UInt32, String)
    /// A person is asked, or told. The number is the service's and not that of any ``ToolMessage/ask(number:_:)``; 0 for what needs
    /// no answer.
    case prompt(number: UInt32, PersonQuestion)
    /// What was shown or asked with this number is over.
    case promptClosed(number: UInt32)
    /// The service ends the conversation, and why.
    case goodbye(ServiceError)
}

/// What a person is asked, or told.
public enum PersonQuestion: Hashable, Sendable {
    /// Two devices pair.
    case pairing(PairingQuestion)
    /// May an app use Bluetooth? (behaviour 1.18)
    case permission(AppQuestion)
    /// Something that needs no answer.
    case notice(String)
}

/// Whether an app may use Bluetooth, as a person is asked (behaviour 1.18).
///
/// Each text is one line without control characters, and bounded: an app cannot make its words look like those of the system (AB-G07).
public struct AppQuestion: Hashable, Sendable {
    /// Scalars of the longest names and identifiers.
    static let maximumName = 64
    /// Scalars of the longest reason.
    static let maximumUsage = 200
    /// Scalars of the longest path.
    static let maximumExecutable = 256

    /// The identifier that the app gives for itself.
    public var identifier: String
    /// The number of the user that it runs as, which the kernel names.
    public var owner: UInt32
    /// What the app calls itself, in its own words; nil for one that goes by its identifier.
    public var displayName: String?
    /// What it says that Bluetooth is for, in its own words; nil where it does not say.
    public var usage: String?
    /// The program that it runs, by the path that the kernel names; nil where that is not known.
    public var executable: String?

    /// A question about an app.
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

/// What a person is asked while two devices pair.
public struct PairingQuestion: Hashable, Sendable {
    /// Scalars of the longest name of a device that is shown.
    static let maximumName = 64

    /// What is asked or shown.
    public enum Kind: Hashable, Sendable {
        /// Pair or not? Nothing protects against somebody in the middle.
        case confirm
        /// Pair anew with a device that has not shown that it still has its keys?
        case confirmReplacement
        /// A code to be entered on the other device. To refuse is the only answer.
        case showPasskey(UInt32)
        /// Which code does the other device show?
        case enterPasskey
        /// Does the other device show this number too?
        case compare(UInt32)
    }

    /// What is asked or shown.
    public var kind: Kind
    /// The name of the other device, which it has chosen itself, as one line; nil for one without.
    public var peerName: String?
    /// Its address.
    public var peerAddress: String
    /// What apps call it, where that is known.
    public var peer: UUID?
    /// Whether it is for apps that are all in the background: then it waits as a notification does (behaviour 6.21).
    public var isInBackground = false

    /// A question about a device.
    public init(_ kind: Kind, peerName: String? = nil, peerAddress: String, peer: UUID? = nil) {
        self.kind = kind
        self.peerName = peerName
        self.peerAddress = peerAddress
        self.peer = peer
    }
}

/// What a person answers.
public enum PersonAnswer: Hashable, Sendable {
    /// Yes, pair.
    case accept
    /// No, do not pair.
    case refuse
    /// The six digits that the other device shows, 0 to 999,999.
    case passkey(UInt32)
    /// The app may use Bluetooth.
    case allow
    /// It may not.
    case deny
}
