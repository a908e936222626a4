import BluetoothTypes
import EventLoops
import HCI

/// Commands for periodic advertising (Core Vol 4 Part E 7.8.61 to 7.8.63).
extension CommandTable {
    mutating func addPeriodicCommands() {
        add(LESetPeriodicAdvertisingParameters.self, as: .extended, needs: .periodicAdvertising) {
            $0.setParameters(.init(v1: $1, timing: LESubeventTiming(), responseSlots: 0))
        }
        add(LESetPeriodicAdvertisingData.self, as: .extended, needs: .periodicAdvertising) { $0.setData($1) }
        add(LESetPeriodicAdvertisingEnable.self, as: .extended, needs: .periodicAdvertising) { $0.setEnable($1) }
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
        train(of: v1.set).adopt(command.normalized)
        return .success
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
        let phy = advertiser.set.parameters.secondaryPHY
        return train.update(command.operation, command.data, on: phy) ?? .success
    }

    fileprivate func setEnable(_ command: LESetPeriodicAdvertisingEnable) -> HCIStatus {
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        // These PDUs have no ADI.
        guard !command.enable.contains(.includeInfo) else { return .unsupportedFeatureOrParameter }
        guard command.enable.contains(.enable) else {
            trains[command.set]?.disable()
            advertiser.announce(nil)
            return .success
        }
        guard let train = trains[command.set], advertiser.set.canBePeriodic, !train.data.isPartial else {
            return .commandDisallowed
        }
        guard train.hasTime(on: advertiser.set.parameters.secondaryPHY) else { return .packetTooLong }
        train.enable()
        let responses = train.hasSubevents ? ResponseTiming() : nil
        advertiser.announce(AdvertisingSet.Announcement(sync: SyncInfo(), responses: responses))
        // Otherwise the train waits for the advertising of its set (7.8.63).
        if advertiser.isEnabled { train.begin(advertiser.set, map: channelMap) }
        return .success
    }
}
