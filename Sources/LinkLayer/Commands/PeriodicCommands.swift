import BluetoothTypes
import EventLoops
import HCI

/// Commands of those who advertise periodically (Core Vol 4 Part E 7.8.61 to 7.8.63).
extension CommandTable {
    mutating func addPeriodicCommands() {
        add(LESetPeriodicAdvertisingParameters.self) { controller, command in controller.setParameters(command) }
        add(LESetPeriodicAdvertisingData.self) { controller, command in controller.setData(command) }
        add(LESetPeriodicAdvertisingEnable.self) { controller, command in controller.setEnable(command) }
        let opcodes = [
            LESetPeriodicAdvertisingParameters.opcode, LESetPeriodicAdvertisingData.opcode,
            LESetPeriodicAdvertisingEnable.opcode,
        ]
        mark(opcodes, as: .extended, feature: .periodicAdvertising)
        addPeriodicSyncCommands()
        addPeriodicTransferCommands()
    }
}

extension VirtualController {
    fileprivate func setParameters(_ command: LESetPeriodicAdvertisingParameters) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        guard !(advertiser.train?.isWanted ?? false) else { return .commandDisallowed }
        guard advertiser.set.canBePeriodic, command.intervalMin >= 6, command.intervalMin <= command.intervalMax else {
            return .invalidParameters
        }
        let train = advertiser.train ?? makeTrain(for: advertiser)
        train.parameters = command
        advertiser.train = train
        return .success
    }

    private func makeTrain(for advertiser: Advertiser) -> PeriodicAdvertiser {
        PeriodicAdvertiser(
            set: advertiser.set.handle,
            arbiter: arbiter,
            loop: loop,
            random: random,
            accuracy: ClockAccuracy(code: configuration.clockAccuracy.rawValue)
        )
    }

    fileprivate func setData(_ command: LESetPeriodicAdvertisingData) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        guard let train = advertiser.train else { return .commandDisallowed }
        guard command.operation.rawValue <= 4, command.data.count <= 252 else { return .invalidParameters }
        // The same data as news (7.8.62): there is no ADI by which anybody would notice.
        if command.operation == .unchanged {
            return train.isWanted && command.data.isEmpty ? .success : .invalidParameters
        }
        let isWhole = command.operation == .complete
        guard isWhole || !command.data.isEmpty else { return .invalidParameters }
        guard isWhole || !train.isWanted else { return .commandDisallowed }
        let before = train.data
        let update = DataUpdate(operation: command.operation, data: command.data, isEnabled: train.isWanted)
        if let error = update.apply(to: &train.data) { return error }
        guard train.isWanted, !hasTime(advertiser, train) else { return .success }
        train.data = before
        return .packetTooLong
    }

    /// Whether an event of the train is over before the next one.
    private func hasTime(_ advertiser: Advertiser, _ train: PeriodicAdvertiser) -> Bool {
        let interval = Int64(train.parameters?.intervalMin ?? 0) * SyncInfo.intervalUnit
        return train.eventTime(on: advertiser.set.parameters.secondaryPHY) < interval
    }

    fileprivate func setEnable(_ command: LESetPeriodicAdvertisingEnable) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        // There is no ADI in these packets.
        guard !command.enable.contains(.includeInfo) else { return .unsupportedFeatureOrParameter }
        guard command.enable.contains(.enable) else {
            advertiser.train?.isWanted = false
            advertiser.train?.stop()
            advertiser.set.syncInfo = nil
            return .success
        }
        guard let train = advertiser.train, advertiser.set.canBePeriodic, !train.data.isPartial else {
            return .commandDisallowed
        }
        guard hasTime(advertiser, train) else { return .packetTooLong }
        train.isWanted = true
        advertiser.set.syncInfo = SyncInfo()
        // Otherwise it waits for the advertising of the set (7.8.63).
        if advertiser.isEnabled { train.begin(advertiser.set, map: channelMap) }
        return .success
    }
}

extension AdvertisingSet {
    /// Whether there may be periodic advertising beside it: whoever it is must be told, and have nothing to answer (7.8.61).
    var canBePeriodic: Bool { !isLegacy && !isConnectable && !isScannable && !isAnonymous }
}
