import BluetoothTypes
import HCI

extension EventMask {
    /// The events that this host has a use for.
    static let wanted: EventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension EventMaskPage2 {
    /// The events that this host has a use for, of those that the controller knows. The second version of Encryption
    /// Change, of 5.3, comes in place of the first, which stays in its mask for a controller that lacks the second.
    static func wanted(by controller: ControllerInformation) -> EventMaskPage2 {
        let features = controller.leFeatures
        var mask: EventMaskPage2 = []
        if features.contains(.ping) { mask.insert(.authenticatedPayloadTimeoutExpired) }
        if features.contains(.encryption), controller.version >= .v5_3 {
            mask.insert(.encryptionChangeV2)
        }
        return mask
    }
}

extension LEEventMask {
    /// The events that this host has a use for, of those that the controller knows: an older one may refuse others.
    ///
    /// Left out are the keys that the controller computes, since this host computes its own, and the second version of
    /// LE Enhanced Connection Complete, which tells of periodic advertising. The first form of LE Connection Complete stays
    /// in: a controller that knows the enhanced one sends only that.
    static func wanted(by controller: ControllerInformation) -> LEEventMask {
        let features = controller.leFeatures
        var mask: LEEventMask = [
            .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
        ]
        if features.contains(.encryption) { mask.insert(.longTermKeyRequest) }
        if features.contains(.connectionParametersRequest) { mask.insert(.remoteConnectionParameterRequest) }
        if features.contains(.dataLengthExtension) { mask.insert(.dataLengthChange) }
        if features.contains(.privacy) { mask.insert(.enhancedConnectionComplete) }
        if features.contains(.extendedScannerFilterPolicies) { mask.insert(.directedAdvertisingReport) }
        if !features.isDisjoint(with: [.phy2M, .phyCoded]) { mask.insert(.phyUpdateComplete) }
        if features.contains(.channelSelectionAlgorithm2) { mask.insert(.channelSelectionAlgorithm) }
        if features.contains(.extendedAdvertising) {
            mask.formUnion([
                .enhancedConnectionComplete, .extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated,
                .scanRequestReceived,
            ])
        }
        if features.contains(.periodicAdvertising) {
            mask.formUnion([.periodicSyncEstablished, .periodicReport, .periodicSyncLost])
        }
        if features.contains(.periodicSyncTransferRecipient) { mask.insert(.periodicSyncTransferReceived) }
        if features.contains(.connectionSubrating) { mask.insert(.subrateChange) }
        return mask
    }
}
