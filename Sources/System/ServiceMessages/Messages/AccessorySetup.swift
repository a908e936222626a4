import BluetoothTypes
import Foundation

// The messages between a session of AccessorySetupKit and the service (behaviour 1.23).

/// The traits by which accessories are discovered, as the app describes them (behaviour 16.4).
public struct AccessoryDescriptor: Hashable, Sendable {
    /// A service that is advertised, by itself or with service data.
    public var service: BluetoothUUID?
    /// The company of the manufacturer data; nil for any. The API has 0 for it.
    public var company: UInt16?
    /// A part of the advertised name.
    public var nameSubstring: String?
    /// The raw value of `NSString.CompareOptions` for ``nameSubstring``.
    public var nameOptions: UInt64 = 0
    /// The manufacturer data after the company, as far as ``manufacturerMask`` has its bits set.
    public var manufacturerBlob: PacketBuffer?
    /// The bits of ``manufacturerBlob`` that count.
    public var manufacturerMask: PacketBuffer?
    /// The data of ``service``, as far as ``serviceMask`` has its bits set.
    public var serviceBlob: PacketBuffer?
    /// The bits of ``serviceBlob`` that count.
    public var serviceMask: PacketBuffer?
    /// Whether only accessories right next to this device count.
    public var isImmediate = false
    /// The raw value of `ASAccessory.SupportOptions`.
    public var options: UInt64 = 0

    /// Creates a descriptor without traits.
    public init() {}

    /// Whether the accessory pairs while it is set up: `bluetoothPairingLE`.
    package var pairs: Bool { options & 2 != 0 }
}

/// One kind of accessory that the picker of an app offers.
public struct PickerItem: Hashable, Sendable {
    /// The setup options of the API, with its raw values.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The raw bit mask.
        public let rawValue: UInt8

        /// Creates options from a bit mask.
        ///
        /// - Parameter rawValue: The bits, assigned or not.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The user is asked to rename the accessory.
        public static let rename = Options(rawValue: 1)
        /// The app has to finish the authorization.
        public static let confirmAuthorization = Options(rawValue: 2)
        /// The user is asked to finish the setup in the app.
        public static let finishInApp = Options(rawValue: 4)
    }

    /// The name that the app gives the accessory.
    public var name: String
    /// The name of the image that the app supplies; empty if it has none.
    public var image: String
    /// The traits of the accessory.
    public var descriptor: AccessoryDescriptor
    /// What happens beside the choice.
    public var options: Options
    /// The peripheral that is adopted without a choice; nil for an item that is discovered (behaviour 16.9).
    public var migrated: UUID?

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - name: The name that the app gives the accessory.
    ///   - image: The name of the image; empty for none.
    ///   - descriptor: The traits of the accessory.
    ///   - options: What happens beside the choice.
    ///   - migrated: The peripheral that is adopted without a choice, or nil.
    public init(
        name: String,
        image: String = "",
        descriptor: AccessoryDescriptor,
        options: Options = [],
        migrated: UUID? = nil
    ) {
        self.name = name
        self.image = image
        self.descriptor = descriptor
        self.options = options
        self.migrated = migrated
    }
}

/// An accessory of an app.
public struct SetUpAccessory: Hashable, Sendable {
    /// The authorization of an accessory. The raw values are a tenth of those of the API.
    public enum State: UInt8, Hashable, Sendable {
        /// The app may not use the accessory.
        case unauthorized = 0
        /// The user has chosen the accessory, and the app has to finish its authorization.
        case awaitingAuthorization = 1
        /// The app may use the accessory.
        case authorized = 2
    }

    /// The identifier by which managers know the peripheral.
    public var identifier: UUID
    /// The name for the user.
    public var name: String
    /// The traits by which it was discovered.
    public var descriptor: AccessoryDescriptor
    /// Whether the app may use it.
    public var state: State

    /// Creates an accessory.
    public init(identifier: UUID, name: String, descriptor: AccessoryDescriptor, state: State = .authorized) {
        self.identifier = identifier
        self.name = name
        self.descriptor = descriptor
        self.state = state
    }
}

/// A request of a session of AccessorySetupKit. Answered by ``SetupEvent/answered(number:_:)``.
public enum SetupRequest: Hashable, Sendable {
    /// Shows the picker until something is found, at most for `timeout` seconds; nil for no limit.
    case showPicker([PickerItem], timeout: Int?)
    /// Shows the user a field for another name.
    case rename(UUID)
    /// Removes an accessory and its bond.
    case remove(UUID)
    /// Authorizes an accessory that awaits it.
    case finishAuthorization(UUID)
    /// Removes an accessory that awaits its authorization.
    case failAuthorization(UUID)
    /// Asks the user whether another descriptor may apply to an accessory.
    case updateAuthorization(UUID, AccessoryDescriptor)
}

/// An event of a session of AccessorySetupKit.
public enum SetupEvent: Hashable, Sendable {
    /// The kind of an event, with the raw value of the API.
    public enum Kind: UInt8, Hashable, Sendable {
        /// The session ended, or could not be activated.
        case invalidated = 11
        /// An accessory was adopted (behaviour 16.9).
        case migrationComplete = 20
        /// The user has added an accessory.
        case accessoryAdded = 30
        /// An accessory is no longer the app's.
        case accessoryRemoved = 31
        /// The name, the state or the descriptor of an accessory has changed.
        case accessoryChanged = 32
        /// The picker is on the screen.
        case pickerDidPresent = 40
        /// The picker is gone.
        case pickerDidDismiss = 50
        /// The setup of the chosen accessory failed.
        case pickerSetupFailed = 70
        /// The chosen accessory is being paired.
        case pickerSetupPairing = 80
        /// The user is being asked for a name.
        case pickerSetupRename = 90
    }

    /// The session is active. Its first event, with the accessories of the app.
    case activated([SetUpAccessory])
    /// Something happened, perhaps to an accessory.
    case happened(Kind, SetUpAccessory?, SetupError?)
    /// The outcome of the request with this number.
    case answered(number: UInt32, SetupError?)
}

/// The reason why a request of AccessorySetupKit failed.
public struct SetupError: Error, Hashable, Sendable {
    /// The codes of `ASError` that occur.
    public enum Code: UInt8, Hashable, Sendable {
        /// The reason is not known.
        case unknown
        /// The session could not be activated.
        case activationFailed
        /// There was no connection to the accessory, or it did not pair.
        case connectionFailed
        /// Nothing was found in time.
        case discoveryTimeout
        /// The app has no extension for the purpose.
        case extensionNotFound
        /// The session has ended.
        case invalidated
        /// The request is not valid.
        case invalidRequest
        /// A picker is on the screen already.
        case pickerAlreadyActive
        /// The picker cannot be shown.
        case pickerRestricted
        /// The user has cancelled.
        case userCancelled
    }

    /// The code that the API shows.
    public var code: Code
    /// What failed, for people to read; nil if the code says it all.
    public var reason: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The code that the API shows.
    ///   - reason: What failed, for people to read.
    public init(_ code: Code, reason: String? = nil) {
        self.code = code
        self.reason = reason
    }
}

/// A question for the user about accessories of an app.
///
/// Each text is one line of bounded length without control characters, so that an app cannot imitate texts of the
/// system (AB-G07).
public struct AccessoryQuestion: Hashable, Sendable {
    /// The maximum length of names, in Unicode scalars.
    package static let maximumName = 64

    /// An accessory in the picker.
    public struct Offer: Hashable, Sendable {
        /// The identifier by which managers know the peripheral.
        public var identifier: UUID
        /// The name that the app gives the accessory.
        public var name: String
        /// The name of the image that the app supplies; empty if it has none.
        public var image: String
        /// The name that the accessory advertises; nil if it has none.
        public var advertisedName: String?
        /// Whether another app has set the accessory up, so that the two share it (behaviour 16.5).
        public var isShared: Bool

        /// Creates an offer, with its texts reduced to one line and cut to their limits.
        public init(
            _ identifier: UUID,
            name: String,
            image: String = "",
            advertisedName: String? = nil,
            isShared: Bool = false
        ) {
            self.identifier = identifier
            self.name = name.oneLine(AccessoryQuestion.maximumName)
            self.image = image.oneLine(AccessoryQuestion.maximumName)
            self.advertisedName = advertisedName?.oneLine(AccessoryQuestion.maximumName)
            self.isShared = isShared
        }
    }

    /// The kind of a question.
    public enum Kind: Hashable, Sendable {
        /// Which accessory to set up. The list grows as accessories are found, and is empty at first.
        case pick
        /// Whether the app may manage accessories that it has used before (behaviour 16.9).
        case migrate
        /// The new name of the accessory.
        case rename
        /// Whether the app may use more of the accessory.
        case update
    }

    /// The kind of the question.
    public var kind: Kind
    /// The app, as ``AppQuestion`` shows it.
    public var app: AppQuestion
    /// The accessories that the question is about.
    public var offers: [Offer]

    /// Creates a question.
    public init(_ kind: Kind, of app: AppQuestion, _ offers: [Offer]) {
        self.kind = kind
        self.app = app
        self.offers = offers
    }
}

/// What the user does with an accessory in the settings (behaviour 16.8).
public enum AccessoryVerb: Hashable, Sendable {
    /// Removes it from the app.
    case remove
    /// Gives it another name.
    case rename(String)
}
