import BluetoothService
import GAP
import LinkLayer
import SMP
import Security
import ServiceMessages

/// The kind of a ``SimulatedDevice``.
public struct DeviceOptions: Hashable, Sendable {
    /// The input and output that a device has for codes (Core Vol 3 Part H 2.3.2). It determines how two devices can
    /// pair (behaviour 6.8).
    public enum PairingScreen: Hashable, Sendable {
        /// No input or output: pairing has no MITM protection.
        case none
        /// A display for six digits.
        case display
        /// A display for six digits, and buttons to confirm or refuse.
        case displayAndButtons
        /// A keyboard for six digits.
        case keyboard
        /// A display and a keyboard for six digits, as on a phone.
        case displayAndKeyboard
    }

    /// Whether the controller supports the extended advertising of version 5.0. If not, the host uses the commands of
    /// version 4.0.
    public var hasExtendedAdvertising: Bool
    /// The input and output that the device has for codes.
    public var pairingScreen: PairingScreen
    /// The time after which the device changes its resolvable private address (behaviours 6.17, 14.24). Nil for a
    /// device with a static random address that never changes, not even when the device restarts.
    public var addressLifetime: Duration?
    /// The time for which a link stays up after the last app has cancelled its connection, 0 by default. Apple's
    /// systems wait about five seconds (behaviours 3.11, 15.14).
    public var linger: Duration
    /// The permission of apps for which nothing else was set. For `notDetermined`, the device's person is asked
    /// (behaviour 1.18).
    public var permission: AppPermission
    /// Whether apps with the background mode `bluetooth-peripheral` can start advertising in the background, on all
    /// versions. False refuses that from iOS 14 on (behaviour 7.25).
    public var startsAdvertisingInBackground: Bool
    /// Whether, from iOS 26 on, only apps that use AccessorySetupKit are launched again after the switch in Control Centre
    /// and after airplane mode, as note 5 of TN3115 says by its letter. By default no app loses this (behaviour 10.28).
    public var restoresOnlySetUpApps = false
    /// The version of iOS that the device follows where their rules differ.
    public var version: SystemVersion
    /// The deviations of the device's controller from the specification, as some real ones have them.
    public var quirks: Set<ControllerQuirk>
    /// Whether the device can measure distances by Channel Sounding, as initiator and as reflector.
    public var channelSounding: ChannelSounding
    /// The number of antennas for Channel Sounding, 1 to 4. They stand 5 cm apart, in a row to the east of the position.
    public var antennas = 1

    /// Whether a device can measure distances (behaviours 17.1, 17.2).
    public enum ChannelSounding: Hashable, Sendable {
        /// The controller does not support Channel Sounding.
        case unsupported
        /// The controller supports Channel Sounding, of version 6.0.
        case supported
        /// The controller supports Channel Sounding, and the device is in a region that does not allow it.
        case notAllowed
    }

    /// Creates options, by default those of a current phone.
    ///
    /// - Parameters:
    ///   - hasExtendedAdvertising: Whether the controller supports the extended advertising of version 5.0.
    ///   - pairingScreen: The input and output that the device has for codes.
    ///   - addressLifetime: The time after which the device changes its address, or nil for never.
    ///   - linger: The time for which a link stays up after the last app has cancelled its connection.
    ///   - permission: The permission of apps for which nothing else was set.
    ///   - startsAdvertisingInBackground: Whether apps with the background mode `bluetooth-peripheral` can start
    ///     advertising in the background.
    ///   - version: The version of iOS that the device follows where their rules differ.
    ///   - quirks: The deviations of the controller from the specification.
    ///   - channelSounding: Whether the device can measure distances.
    public init(
        hasExtendedAdvertising: Bool = true,
        pairingScreen: PairingScreen = .displayAndKeyboard,
        addressLifetime: Duration? = .seconds(900),
        linger: Duration = .zero,
        permission: AppPermission = .allowedAlways,
        startsAdvertisingInBackground: Bool = true,
        version: SystemVersion = .newest,
        quirks: Set<ControllerQuirk> = [],
        channelSounding: ChannelSounding = .unsupported
    ) {
        self.hasExtendedAdvertising = hasExtendedAdvertising
        self.pairingScreen = pairingScreen
        self.addressLifetime = addressLifetime
        self.linger = linger
        self.permission = permission
        self.startsAdvertisingInBackground = startsAdvertisingInBackground
        self.version = version
        self.quirks = quirks
        self.channelSounding = channelSounding
    }

    /// A current phone: a private address that changes every 15 minutes, a display and a keyboard.
    public static let phone = DeviceOptions()

    /// An accessory such as a sensor: an address that never changes, and no input or output, so that pairing has no
    /// MITM protection.
    public static let accessory = DeviceOptions(pairingScreen: .none, addressLifetime: nil)

    /// A gateway, such as a small computer that collects values: an address that never changes, and no input or output.
    public static let gateway = DeviceOptions(pairingScreen: .none, addressLifetime: nil)
}

extension SystemConfiguration {
    init(_ options: DeviceOptions) {
        self.init()
        linger = options.linger
        permission = options.permission
        version = options.version
        startsAdvertisingInBackground = options.startsAdvertisingInBackground
        allowsChannelSounding = options.channelSounding != .notAllowed
        restoresOnlySetUpApps = options.restoresOnlySetUpApps
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
