import BluetoothTypes
import EventLoops
import HCI

/// Commands for synchronizing with periodic advertising (Core Vol 4 Part E 7.8.67 to 7.8.73, 7.8.88).
extension CommandTable {
    mutating func addPeriodicSyncCommands() {
        add(LEPeriodicAdvertisingCreateSync.self, as: .extended, needs: .periodicAdvertising) { $0.createSync($1) }
        add(LEPeriodicAdvertisingCreateSyncCancel.self, as: .extended, needs: .periodicAdvertising) { controller, _ in
            guard controller.synchronizer.cancel() else { return HCIStatus.commandDisallowed }
            var event = LEPeriodicAdvertisingSyncEstablished()
            event.status = .operationCancelledByHost
            controller.synchronizer.send(event, LESubeventTiming())
            return .success
        }
        add(LEPeriodicAdvertisingTerminateSync.self, as: .extended, needs: .periodicAdvertising) {
            $0.terminateSync($1.sync)
        }
        add(LESetPeriodicAdvertisingReceiveEnable.self, needs: .periodicAdvertising) { controller, command in
            guard let follower = controller.synchronizer.follower(command.sync) else {
                return HCIStatus.unknownAdvertisingIdentifier
            }
            guard !command.enable.contains(.filtersDuplicates) else { return .unsupportedFeatureOrParameter }
            follower.enableReports(command.enable.contains(.reports))
            return .success
        }
        addPeriodicListCommands()
    }

    private mutating func addPeriodicListCommands() {
        add(LEAddDeviceToPeriodicAdvertiserList.self, as: .extended, needs: .periodicAdvertising) {
            $0.changePeriodicList($1.address, $1.sid, $0.synchronizer.addToList)
        }
        add(LERemoveDeviceFromPeriodicAdvertiserList.self, as: .extended, needs: .periodicAdvertising) {
            $0.changePeriodicList($1.address, $1.sid, $0.synchronizer.removeFromList)
        }
        add(LEClearPeriodicAdvertiserList.self, as: .extended, needs: .periodicAdvertising) { controller, _ in
            controller.synchronizer.clearList()
        }
        add(LEReadPeriodicAdvertiserListSize.self, needs: .periodicAdvertising) { _, _ in
            .init(UInt8(Synchronizer.listSize))
        }
    }
}

/// Whether a train can be followed with these parameters: a skip of 0 to 499 events, a timeout of 100 ms to 163.84 s.
func isFollowingValid(skip: UInt16, timeout: UInt16) -> Bool {
    skip <= 0x01F3 && (0x000A...0x4000).contains(timeout)
}

extension VirtualController {
    fileprivate func createSync(_ command: LEPeriodicAdvertisingCreateSync) -> HCIStatus {
        guard synchronizer.wanted == nil else { return .commandDisallowed }
        guard isFollowingValid(skip: command.skip, timeout: command.timeout) else { return .invalidParameters }
        // Without an ADI, duplicates cannot be recognised.
        guard !command.options.contains(.filtersDuplicates) else { return .unsupportedFeatureOrParameter }
        if !command.options.contains(.usesList) {
            guard command.sid <= 0x0F, command.address.kind.rawValue <= 1 else { return .invalidParameters }
            let entry = Synchronizer.Entry(advertiser: command.address.device, sid: command.sid)
            guard !synchronizer.isFollowing(entry) else { return .connectionAlreadyExists }
        }
        guard synchronizer.count < Synchronizer.maximumTrains else { return .memoryCapacityExceeded }
        synchronizer.search(for: command)
        return .success
    }

    fileprivate func terminateSync(_ handle: UInt16) -> HCIStatus {
        guard synchronizer.follower(handle) != nil else { return .unknownAdvertisingIdentifier }
        synchronizer.remove(handle)
        return .success
    }

    /// Changes the periodic advertiser list unless it is in use.
    fileprivate func changePeriodicList(
        _ address: BluetoothAddress,
        _ sid: UInt8,
        _ change: (Synchronizer.Entry) -> HCIStatus
    ) -> HCIStatus {
        guard synchronizer.wanted == nil else { return .commandDisallowed }
        guard address.kind.rawValue <= 1, sid <= 0x0F else { return .invalidParameters }
        return change(Synchronizer.Entry(advertiser: address.device, sid: sid))
    }
}
