/// A good practice: a rule of chapter 12 of Documentation/Behaviours.md, and what an app should do instead of breaking
/// it.
///
/// The raw value is the number within the chapter.
public enum AdviceRule: Int, Hashable, Sendable, CaseIterable {
    /// 12.1: Scan no longer than until the device is there.
    case scanUntilFound = 1
    /// 12.2: Ask for duplicates for proximity only.
    case duplicates = 2
    /// 12.3: Scan for services.
    case scanForServices = 3
    /// 12.4: Scan for a short time.
    case shortScans = 4
    /// 12.5: Discover what is needed.
    case narrowDiscovery = 5
    /// 12.6: Subscribe rather than poll.
    case subscribeRatherThanPoll = 6
    /// 12.7: Subscribe to values that change often.
    case rareValues = 7
    /// 12.8: Do not poll a value that notifies.
    case readWhileNotifying = 8
    /// 12.9: Disconnect from a device without further data.
    case idleConnection = 9
    /// 12.10: Unsubscribe before cancelling.
    case unsubscribeFirst = 10
    /// 12.11: Do not scan for known devices.
    case retrieveKnown = 11
    /// 12.12: Keep objects.
    case keepObjects = 12
    /// 12.13: Connect and scan once.
    case callOnce = 13
    /// 12.14: Stop advertising.
    case stopAdvertising = 14
    /// 12.15: Let the user decide on advertising.
    case userDecides = 15
    /// 12.16: Advertise what matters and fits.
    case fittingAdvertisement = 16
    /// 12.17: Let centrals subscribe to changing values.
    case notifyingValues = 17
    /// 12.18: Protect sensitive values.
    case protectedWrites = 18
    /// 12.19: Respond once, and soon.
    case promptResponses = 19
    /// 12.20: Respect the flow control.
    case flowControl = 20
    /// 12.21: Respect the MTU.
    case fittingValues = 21
    /// 12.22: Large data over a channel.
    case bulkOverChannels = 22
    /// 12.23: Begin with poweredOn.
    case waitForPower = 23
    /// 12.24: Handle each state.
    case handleStates = 24
    /// 12.25: Take little time in the background.
    case shortWakes = 25
    /// 12.26: Few services, grouped by width, and Service Changed for bonds.
    case groupedServices = 26
    /// 12.27: Restore properly.
    case keepRestored = 27
    /// 12.28: Request allowed parameters.
    case allowedParameters = 28
    /// 12.29: Return from callbacks soon.
    case shortCallbacks = 29
    /// 12.30: An accessory advertises at the intervals that Apple recommends.
    case advertisingInterval = 30
    /// 12.31: An accessory's attribute table follows the rules.
    case soundTable = 31

    /// The number of the rule in Documentation/Behaviours.md, for example `12.4`.
    public var number: String { "12.\(rawValue)" }

    /// Whether the sign is weak: an app that shows it may still be right.
    public var isHint: Bool {
        switch self {
        case .duplicates, .rareValues, .retrieveKnown, .userDecides, .protectedWrites, .groupedServices,
            .advertisingInterval, .soundTable:
            true
        default: false
        }
    }

    /// The better way, as a sentence for the app's developer.
    public var instead: String {
        switch self {
        case .scanUntilFound: "Call stopScan() as soon as the device is found."
        case .duplicates: "Leave CBCentralManagerScanOptionAllowDuplicatesKey out, unless the app shows proximity."
        case .scanForServices: "Name the services to scan for; in the background, a scan that names none finds nothing."
        case .shortScans: "Stop the scan after some seconds, and let the user start it again."
        case .narrowDiscovery: "Pass the UUIDs that the app uses, to discoverServices(_:) and to what follows."
        case .subscribeRatherThanPoll:
            "Read the value once, then call setNotifyValue(true, for:). A value that hardly changes can be read less often."
        case .rareValues:
            "Unless a change matters at once, read the value when it is needed, without a subscription or a poll."
        case .readWhileNotifying: "Wait for the next notification; it has the value."
        case .idleConnection: "Call cancelPeripheralConnection(_:) when there is no more data to wait for."
        case .unsubscribeFirst: "Call setNotifyValue(false, for:) before cancelPeripheralConnection(_:)."
        case .retrieveKnown: "Call retrievePeripherals(withIdentifiers:) and connect, without a scan."
        case .keepObjects: "Keep the CBPeripheral in a property for as long as it is in use."
        case .callOnce: "Make the call once; it stays in force until it is cancelled."
        case .stopAdvertising: "Call stopAdvertising() once the central is there, or after some minutes without one."
        case .userDecides: "Start advertising when the user wants to be found."
        case .fittingAdvertisement: "Advertise services and a name that fit into 28 octets, the most important first."
        case .notifyingValues: "Give the characteristic the property notify or indicate."
        case .protectedWrites: "Use the permission writeEncryptionRequired if not everyone may write the value."
        case .promptResponses: "Call respond(to:withResult:) at once, once for each call of the delegate."
        case .flowControl:
            "Write while canSendWriteWithoutResponse is true; after updateValue returned false, wait for the callback."
        case .fittingValues: "Keep to maximumWriteValueLength(for:) and to maximumUpdateValueLength of the central."
        case .bulkOverChannels: "Open an L2CAP channel for large data."
        case .waitForPower: "Wait until the delegate was called with the state poweredOn."
        case .handleStates: "Read the state in didUpdateState, and act on each: Bluetooth may be off or not permitted."
        case .shortWakes: "Do what an event needs, and return; begin a background task for more."
        case .groupedServices:
            "Publish few services, those with UUIDs of 16 bits before those with 128; a device that bonds needs 2A05."
        case .keepRestored: "Implement willRestoreState, and keep the peripherals that it brings."
        case .allowedParameters:
            "Let the accessory request 15 ms or more, in multiples of 15 ms, and a supervision timeout of 6 to 18 s."
        case .shortCallbacks: "Move the work to another queue, and return from the callback."
        case .soundTable: "Let the accessory declare its services one behind the other, as Core Vol 3 Part G 3 says."
        case .advertisingInterval: "Let the accessory advertise every 20 ms for 30 s, then every 152.5 or 1022.5 ms."
        }
    }
}
