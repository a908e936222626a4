import BluetoothTypes
import EventLoops
import HCI

/// Extended advertising commands (Core Vol 4 Part E 7.8.52 to 7.8.60).
extension CommandTable {
    mutating func addExtendedAdvertisingCommands() {
        add(LESetAdvertisingSetRandomAddress.self, as: .extended, needs: .extendedAdvertising) {
            $0.setRandomAddress($1)
        }
        add(LESetExtendedAdvertisingParameters.self, as: .extended, needs: .extendedAdvertising) {
            $0.setParameters($1)
        }
        add(LESetExtendedAdvertisingData.self, as: .extended, needs: .extendedAdvertising) { $0.setData($1) }
        add(LESetExtendedScanResponseData.self, as: .extended, needs: .extendedAdvertising) { $0.setScanResponse($1) }
        add(LESetExtendedAdvertisingEnable.self, as: .extended, needs: .extendedAdvertising) { $0.setEnable($1) }
        add(LERemoveAdvertisingSet.self, as: .extended, needs: .extendedAdvertising) { $0.removeSet($1.set) }
        add(LEClearAdvertisingSets.self, as: .extended, needs: .extendedAdvertising) { controller, _ in
            controller.clearSets()
        }
        addReadingCommands()
    }

    /// Hosts send these before they choose a command set.
    private mutating func addReadingCommands() {
        add(LEReadMaximumAdvertisingDataLength.self, needs: .extendedAdvertising) { _, _ in
            .init(UInt16(ExtendedAdvertisement.maximumData))
        }
        add(LEReadNumberOfSupportedAdvertisingSets.self, needs: .extendedAdvertising) { _, _ in
            .init(UInt8(AdvertisingSets.maximum))
        }
    }
}

extension VirtualController {
    fileprivate func setRandomAddress(_ command: LESetAdvertisingSetRandomAddress) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        // A connection request must match the advertised address (7.8.52).
        guard !advertiser.isEnabled || !advertiser.set.isConnectable else { return .commandDisallowed }
        guard command.address.value != 0 else { return .invalidParameters }
        advertiser.use(randomAddress: BluetoothAddress(command.address.value, kind: .randomDevice))
        return .success
    }

    fileprivate func setParameters(
        _ command: LESetExtendedAdvertisingParameters
    ) -> LESetExtendedAdvertisingParameters.Response {
        let known = advertisers[command.set]
        if let error = check(command, for: known) { return .init(status: error, selectedTxPower: 0) }
        let advertiser = advertiser(for: command)
        advertiser.adopt(command, maximumPower: configuration.transmitPower)
        return .init(selectedTxPower: advertiser.set.txPower)
    }

    private func check(_ command: LESetExtendedAdvertisingParameters, for known: Advertiser?) -> HCIStatus? {
        if known == nil {
            guard command.set <= 0xEF else { return .invalidParameters }
            guard !sets.isFull else { return .memoryCapacityExceeded }
        }
        guard known?.isEnabled != true else { return .commandDisallowed }
        if let error = ExtendedParameterRules.check(command, supported: supportedPHYs) { return error }
        if let error = checkOwnAddress(command.ownAddressKind) { return error }
        guard var set = known?.set else { return nil }
        set.adopt(command, maximumPower: configuration.transmitPower)
        if trains[command.set]?.isWanted ?? false, !set.canBePeriodic { return .invalidParameters }
        return ExtendedParameterRules.checkData(of: set)
    }

    // MARK: Data

    fileprivate func setData(_ command: LESetExtendedAdvertisingData) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        return advertiser.update(data: command.operation, command.data) ?? .success
    }

    fileprivate func setScanResponse(_ command: LESetExtendedScanResponseData) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        return advertiser.update(scanResponse: command.operation, command.data) ?? .success
    }

    // MARK: Enabling

    fileprivate func setEnable(_ command: LESetExtendedAdvertisingEnable) -> HCIStatus {
        guard Set(command.sets.map(\.set)).count == command.sets.count else { return .invalidParameters }
        guard command.sets.allSatisfy({ advertisers[$0.set] != nil }) else { return .unknownAdvertisingIdentifier }
        guard command.isEnabled else {
            let numbers = command.sets.isEmpty ? Array(advertisers.keys) : command.sets.map(\.set)
            for number in numbers { advertisers[number]?.stop() }
            return .success
        }
        guard !command.sets.isEmpty else { return .invalidParameters }
        for entry in command.sets {
            if let error = checkEnable(entry) { return error }
        }
        for entry in command.sets { enable(entry) }
        return .success
    }

    private func checkEnable(_ entry: AdvertisingSetEnable) -> HCIStatus? {
        guard let set = advertisers[entry.set]?.set else { return .unknownAdvertisingIdentifier }
        // At most 1.28 s, and not unlimited (7.8.56).
        if set.isHighDutyCycle, !(1...128).contains(entry.duration) { return .invalidParameters }
        guard !set.data.isPartial, !set.scanResponse.isPartial else { return .commandDisallowed }
        if set.isScannable, !set.isLegacy, set.scanResponse.bytes.isEmpty { return .commandDisallowed }
        if let error = ExtendedParameterRules.checkLength(of: set) { return error }
        guard hasAddress(set) else { return .invalidParameters }
        guard !set.isConnectable || links.count < configuration.maximumLinks else { return .connectionLimitExceeded }
        if set.isConnectable, set.isDirected, isConnected(lastingAddress(of: set), set.target) {
            return .connectionAlreadyExists
        }
        return nil
    }

    private func enable(_ entry: AdvertisingSetEnable) {
        guard let advertiser = advertisers[entry.set] else { return }
        setAddresses(of: advertiser)
        advertiser.start(
            duration: entry.duration == 0 ? nil : .milliseconds(Int64(entry.duration) * 10),
            maximumEvents: entry.maxEvents
        )
        trains[entry.set]?.begin(advertiser.set, map: channelMap)
    }
}
