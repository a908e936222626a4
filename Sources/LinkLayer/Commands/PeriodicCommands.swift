import BluetoothTypes
import EventLoops
import HCI

/// Commands for periodic advertising (Core Vol 4 Part E 7.8.61 to 7.8.63).
extension CommandTable {
    mutating func addPeriodicCommands() {
        add(LESetPeriodicAdvertisingParameters.self) { controller, command in
            controller.setParameters(.init(v1: command, timing: LESubeventTiming(), responseSlots: 0))
        }
        add(LESetPeriodicAdvertisingData.self) { controller, command in controller.setData(command) }
        add(LESetPeriodicAdvertisingEnable.self) { controller, command in controller.setEnable(command) }
        let opcodes = [
            LESetPeriodicAdvertisingParameters.opcode, LESetPeriodicAdvertisingData.opcode,
            LESetPeriodicAdvertisingEnable.opcode,
        ]
        mark(opcodes, as: .extended, feature: .periodicAdvertising)
        addPeriodicResponseCommands()
        addPeriodicSyncCommands()
        addPeriodicTransferCommands()
    }
}

extension VirtualController {
    func setParameters(_ command: LESetPeriodicAdvertisingParametersV2) -> HCIStatus {
        let v1 = command.v1
        guard let advertiser = advertisers[v1.set] else { return .unknownAdvertisingIdentifier }
        guard !(trains[v1.set]?.isWanted ?? false) else { return .commandDisallowed }
        guard advertiser.set.canBePeriodic, v1.intervalMin >= 6, v1.intervalMin <= v1.intervalMax, command.isUsable
        else { return .invalidParameters }
        let train = trains[v1.set] ?? makeTrain(v1.set)
        // A train with subevents has no data of its own (7.8.125).
        if command.hasSubevents { train.data = AdvertisingSet.HostData() }
        train.parameters = command.normalized
        trains[v1.set] = train
        return .success
    }

    private func makeTrain(_ set: UInt8) -> PeriodicAdvertiser {
        PeriodicAdvertiser(
            set: set,
            arbiter: arbiter,
            loop: loop,
            random: random,
            accuracy: ClockAccuracy(code: configuration.clockAccuracy.rawValue),
            owner: self
        )
    }

    fileprivate func setData(_ command: LESetPeriodicAdvertisingData) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        guard let train = trains[command.set], !train.hasSubevents else { return .commandDisallowed }
        guard command.operation.rawValue <= 4, command.data.count <= 252 else { return .invalidParameters }
        // Unchanged data only renew the ADI (7.8.62), which these PDUs do not have.
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

    /// Whether an event of the train ends before the next one starts.
    private func hasTime(_ advertiser: Advertiser, _ train: PeriodicAdvertiser) -> Bool {
        if train.hasSubevents { return true }
        let interval = Int64(train.parameters?.v1.intervalMin ?? 0) * SyncInfo.intervalUnit
        return train.eventTime(on: advertiser.set.parameters.secondaryPHY) < interval
    }

    fileprivate func setEnable(_ command: LESetPeriodicAdvertisingEnable) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        // These PDUs have no ADI.
        guard !command.enable.contains(.includeInfo) else { return .unsupportedFeatureOrParameter }
        guard command.enable.contains(.enable) else {
            trains[command.set]?.isWanted = false
            trains[command.set]?.stop()
            (advertiser.set.syncInfo, advertiser.set.responses) = (nil, nil)
            return .success
        }
        guard let train = trains[command.set], advertiser.set.canBePeriodic, !train.data.isPartial else {
            return .commandDisallowed
        }
        guard hasTime(advertiser, train) else { return .packetTooLong }
        train.isWanted = true
        advertiser.set.syncInfo = SyncInfo()
        advertiser.set.responses = train.hasSubevents ? ResponseTiming() : nil
        // Otherwise the train waits for the advertising of its set (7.8.63).
        if advertiser.isEnabled { train.begin(advertiser.set, map: channelMap) }
        return .success
    }
}

extension AdvertisingSet {
    /// Whether the set may have periodic advertising: it must be extended, neither connectable nor scannable, and not
    /// anonymous (7.8.61).
    var canBePeriodic: Bool { !isLegacy && !isConnectable && !isScannable && !isAnonymous }
}
