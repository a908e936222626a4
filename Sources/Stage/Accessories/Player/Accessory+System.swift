import BluetoothService
import SMP
import Security

extension Accessory {
    /// Configures a Bluetooth system as the accessory's: its name, and how it advertises and pairs.
    package func configure(_ configuration: inout SystemConfiguration) {
        configuration.deviceName = name
        configuration.address = security.hasFixedAddress ? .staticRandom : .resolvablePrivate
        if let lifetime = security.addressLifetime { configuration.privacyInterval = lifetime }
        configuration.publishesAnyDescriptor = true
        configuration.pairing.isPairable = security.allowsPairing
        configuration.pairing.ioCapability = security.inputOutput.capability
        // Whether an encryption requirement means MITM protection is a property of the system (behaviour 6.9).
        configuration.demandsAuthenticatedCentrals = characteristics.contains {
            [$0.reading, $0.writing, $0.notifying].contains(.authenticated)
        }
        configuration.advertising.isConnectable = advertising.isConnectable
        // In units of 625 µs. The format allows 20 ms to 10.24 s, the range of the command.
        configuration.advertising.interval = advertising.interval.map { UInt16($0 / .microseconds(625)) }
    }
}

extension Accessory.Security.InputOutput {
    fileprivate var capability: IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .displayAndButtons: .displayYesNo
        case .keyboard: .keyboardOnly
        case .displayAndKeyboard: .keyboardDisplay
        }
    }
}
