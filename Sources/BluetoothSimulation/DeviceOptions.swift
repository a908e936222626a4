import BluetoothService
import GAP
import LinkLayer
import Privacy
import SMP

/// What kind of device a ``SimulatedDevice`` is.
public struct DeviceOptions: Hashable, Sendable {
    /// What a device has for codes (Core Vol 3 Part H 2.3.2). It decides on how two devices can pair.
    public enum PairingScreen: Hashable, Sendable {
        /// Nothing: nobody can tell whether somebody is in the middle.
        case none
        /// It shows six digits.
        case display
        /// It shows six digits, and a person can say yes or no.
        case displayAndButtons
        /// Six digits can be typed.
        case keyboard
        /// It shows six digits, and others can be typed, as on a phone.
        case displayAndKeyboard
    }

    /// Whether its controller knows the advertising of version 5.0; without it the host drives it with the commands of
    /// version 4.0.
    public var hasExtendedAdvertising: Bool
    /// What it has for codes.
    public var pairingScreen: PairingScreen
    /// How long it shows one address before it takes another one, which paired devices recognise; nil for a device that
    /// never changes its address.
    public var addressLifetime: Duration?
    /// How long a link stays up after the last app has cancelled its connection; Apple's systems wait about five seconds (behaviours
    /// 3.11, 15.14).
    public var linger = Duration.zero
    /// Whether apps may use Bluetooth of which nothing else was said; the person is asked when that is not determined (behaviour
    /// 1.18).
    public var permission = AppPermission.allowedAlways
    /// Whether apps with `bluetooth-peripheral` may start advertising in the background on all versions. False refuses that from iOS 14 on
    /// (behaviour 7.25).
    public var startsAdvertisingInBackground = true
    /// Which version of iOS it behaves like, where rules differ.
    public var version = SystemVersion.newest
    /// What its controller does otherwise than the specification says, as some real ones do.
    public var quirks: Set<ControllerQuirk> = []

    /// A phone of these days, unless told otherwise.
    public init(
        hasExtendedAdvertising: Bool = true,
        pairingScreen: PairingScreen = .displayAndKeyboard,
        addressLifetime: Duration? = .seconds(900)
    ) {
        self.hasExtendedAdvertising = hasExtendedAdvertising
        self.pairingScreen = pairingScreen
        self.addressLifetime = addressLifetime
    }
}

extension SystemConfiguration {
    /// What the system of such a device is like.
    init(_ options: DeviceOptions) {
        self.init()
        linger = options.linger
        permission = options.permission
        version = options.version
        startsAdvertisingInBackground = options.startsAdvertisingInBackground
        pairing.ioCapability = options.pairingScreen.ioCapability
        if let lifetime = options.addressLifetime {
            privacyInterval = lifetime
        } else {
            address = .staticRandom
        }
    }
}

extension DeviceOptions.PairingScreen {
    fileprivate var ioCapability: IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .displayAndButtons: .displayYesNo
        case .keyboard: .keyboardOnly
        case .displayAndKeyboard: .keyboardDisplay
        }
    }
}
