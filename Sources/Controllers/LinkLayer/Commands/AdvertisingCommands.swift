import BluetoothTypes
import HCI

/// Legacy advertising commands (Core Vol 4 Part E 7.8.5 to 7.8.9).
extension CommandTable {
    mutating func addAdvertisingCommands() {
        add(LESetAdvertisingParameters.self, as: .legacy) { $0.setAdvertisingParameters($1) }
        add(LEReadAdvertisingPhysicalChannelTxPower.self, as: .legacy) { controller, _ in
            .init(controller.configuration.transmitPower)
        }
        add(LESetAdvertisingData.self, as: .legacy) { controller, command in
            controller.advertiser.setData(command.data)
            return HCIStatus.success
        }
        add(LESetScanResponseData.self, as: .legacy) { controller, command in
            controller.advertiser.setScanResponse(command.data)
            return HCIStatus.success
        }
        add(LESetAdvertisingEnable.self, as: .legacy) { $0.setAdvertisingEnable($1.isEnabled) }
    }
}

extension VirtualController {
    fileprivate func setAdvertisingParameters(_ command: LESetAdvertisingParameters) -> HCIStatus {
        guard !advertiser.isEnabled else { return .commandDisallowed }
        let isDirected = command.kind == .directedHighDutyCycle || command.kind == .directedLowDutyCycle
        // Reserved bits are ignored.
        guard command.kind.rawValue <= 4, command.filterPolicy.rawValue <= 3,
            !command.channels.isDisjoint(with: .all),
            !isDirected && !command.ownAddressKind.isPrivate || command.peerAddress.kind.rawValue <= 1
        else { return .invalidParameters }
        // High duty cycle uses an interval of its own; the parameters are ignored.
        if command.kind != .directedHighDutyCycle {
            let range: ClosedRange<UInt16> = 0x0020...0x4000
            guard range.contains(command.intervalMin), range.contains(command.intervalMax) else {
                return .unsupportedFeatureOrParameter
            }
            guard command.intervalMin <= command.intervalMax else { return .invalidParameters }
        }
        if let error = checkOwnAddress(command.ownAddressKind) { return error }
        let parameters = LESetExtendedAdvertisingParameters(command)
        advertiser.adopt(parameters, maximumPower: configuration.transmitPower)
        return .success
    }

    fileprivate func setAdvertisingEnable(_ isEnabled: Bool) -> HCIStatus {
        guard isEnabled else {
            advertiser.stop()
            return .success
        }
        let set = advertiser.set
        guard hasAddress(set) else { return .invalidParameters }
        guard !set.isConnectable || links.count < configuration.maximumLinks else {
            return .connectionLimitExceeded
        }
        guard !advertiser.isEnabled else { return .success }
        if set.isDirected, isConnected(lastingAddress(of: set), set.target) { return .connectionAlreadyExists }
        setAddresses(of: advertiser)
        advertiser.start(duration: set.isHighDutyCycle ? Advertiser.highDutyCycleLimit : nil)
        return .success
    }
}
