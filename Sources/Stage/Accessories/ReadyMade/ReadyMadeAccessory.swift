/// The accessories that come with this module. Each is a JSON file, compiled in.
public enum ReadyMadeAccessory: String, CaseIterable, Sendable {
    /// A heart rate sensor with a body sensor location, which counts energy.
    case heartRate = "heart-rate"
    /// A thermometer that indicates temperatures.
    case thermometer
    /// A device whose battery runs down.
    case battery
    /// A glucose meter with records and a record access control point, over an encrypted link.
    case glucose
    /// A bonded keyboard with an address that changes.
    case keyboard
    /// A target of firmware updates, which confirms packets and checks their CRC-32.
    case firmwareTarget = "firmware-target"
    /// A Nordic UART that echoes what it receives.
    case uart
    /// A weight scale that indicates one weight.
    case weightScale = "weight-scale"
    /// An iBeacon, which only advertises.
    case iBeacon = "ibeacon"
    /// An Eddystone-UID beacon, which only advertises.
    case eddystone
    /// A lock that is opened by the answer to a challenge, over an encrypted link.
    case lock
    /// A tag with the Ranging Service, to which the distance can be measured.
    case tag
    /// A device with wrong lengths, errors, delays, and a value that it never sends.
    case faulty

    /// The contents of the JSON file.
    public var json: String {
        switch self {
        case .heartRate: Self.heartRateFile
        case .thermometer: Self.thermometerFile
        case .battery: Self.batteryFile
        case .glucose: Self.glucoseFile
        case .keyboard: Self.keyboardFile
        case .firmwareTarget: Self.firmwareTargetFile
        case .uart: Self.uartFile
        case .weightScale: Self.weightScaleFile
        case .iBeacon: Self.iBeaconFile
        case .eddystone: Self.eddystoneFile
        case .lock: Self.lockFile
        case .tag: Self.tagFile
        case .faulty: Self.faultyFile
        }
    }

    /// The accessory that the file describes.
    public var accessory: Accessory {
        do throws(AccessoryError) {
            return try Accessory(json: json)
        } catch {
            preconditionFailure("the ready-made accessory \(rawValue) is invalid: \(error)")
        }
    }
}
