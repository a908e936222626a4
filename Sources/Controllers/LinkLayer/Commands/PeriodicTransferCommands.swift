import BluetoothTypes
import EventLoops
import HCI

/// Commands for periodic advertising sync transfer (Core Vol 4 Part E 7.8.89 to 7.8.92).
extension CommandTable {
    mutating func addPeriodicTransferCommands() {
        add(LEPeriodicAdvertisingSyncTransfer.self, needs: .periodicSyncTransferSender) { controller, command in
            .init(controller.transfer(command), handle: command.handle)
        }
        add(LEPeriodicAdvertisingSetInfoTransfer.self, needs: .periodicSyncTransferSender) { controller, command in
            .init(controller.transfer(command), handle: command.handle)
        }
        add(LESetPeriodicAdvertisingSyncTransferParameters.self, needs: .periodicSyncTransferRecipient) {
            .init($0.setTransferRules($1), handle: $1.handle)
        }
        add(LESetDefaultPeriodicAdvertisingSyncTransferParameters.self, needs: .periodicSyncTransferRecipient) {
            $0.setDefaultTransferRules(.init($1))
        }
    }
}

extension SyncTransferRules {
    fileprivate init(_ command: LESetDefaultPeriodicAdvertisingSyncTransferParameters) {
        self.init(mode: command.mode, skip: command.skip, timeout: command.timeout)
    }

    /// The error in these parameters, if any.
    fileprivate var error: HCIStatus? {
        guard mode.rawValue <= 3 else { return .invalidParameters }
        guard mode != .filtersDuplicates else { return .unsupportedFeatureOrParameter }
        return mode == .ignore || isFollowingValid(skip: skip, timeout: timeout) ? nil : .invalidParameters
    }
}

extension VirtualController {
    fileprivate func setTransferRules(_ command: LESetPeriodicAdvertisingSyncTransferParameters) -> HCIStatus {
        let rules = SyncTransferRules(command.parameters)
        guard let link = link(command.handle) else { return .unknownConnection }
        if let error = rules.error { return error }
        link.handleTransfers(by: rules)
        return .success
    }

    fileprivate func setDefaultTransferRules(_ rules: SyncTransferRules) -> HCIStatus {
        if let error = rules.error { return error }
        setDefault(.transfers(rules))
        return .success
    }

    fileprivate func transfer(_ command: LEPeriodicAdvertisingSyncTransfer) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard let follower = synchronizer.follower(command.sync) else { return .unknownAdvertisingIdentifier }
        let train = follower.train
        var pdu = indication(
            of: { counter, offset in
                var sync = train.sync
                (sync.counter, sync.offset) = (counter, offset)
                return sync
            },
            at: (follower.anchor, follower.counter),
            on: link
        )
        (pdu.sid, pdu.advertiser, pdu.phy) = (train.sid, train.address, LEPHYs(train.phy) ?? [])
        (pdu.lastCounter, pdu.responses) = (follower.lastCounter, train.responses)
        return sendTransfer(pdu, command.serviceData, on: link)
    }

    fileprivate func transfer(_ command: LEPeriodicAdvertisingSetInfoTransfer) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard let advertiser = advertisers[command.set] else { return .unknownAdvertisingIdentifier }
        guard let train = trains[command.set], train.isRunning else { return .commandDisallowed }
        var pdu = indication(of: train.syncInfo(at:offset:), at: train.event(after: now), on: link)
        let set = advertiser.set
        (pdu.sid, pdu.advertiser, pdu.phy) = (set.parameters.sid, set.air.own, LEPHYs(train.phy) ?? [])
        pdu.responses = train.responses
        return sendTransfer(pdu, command.serviceData, on: link)
    }

    private func sendTransfer(_ pdu: PeriodicSyncIndication, _ serviceData: UInt16, on link: Link) -> HCIStatus {
        var pdu = pdu
        pdu.serviceData = serviceData
        // Not known before features have been exchanged.
        var needed: LEFeatures = .periodicSyncTransferRecipient
        if pdu.responses != nil { needed.insert(.periodicResponsesScanner) }
        guard link.control.remoteFeatures?.isSuperset(of: needed) ?? false else {
            return .unsupportedRemoteFeature
        }
        guard link.ending == nil else { return .commandDisallowed }
        return link.request(.periodicSync(pdu)) ? .success : .controllerBusy
    }
}
