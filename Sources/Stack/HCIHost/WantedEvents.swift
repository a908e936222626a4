import BluetoothTypes
import HCI

extension EventMask {
    /// The events that this host uses.
    static let wanted: EventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension EventMaskPage2 {
    /// Returns the events that this host uses and the controller supports.
    ///
    /// Encryption Change [v2], of version 5.3, replaces the first version, whose bit in the first mask stays set for
    /// controllers without the second.
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
    /// Returns the LE events that this host uses and the controller supports. An older controller may refuse a mask
    /// with others.
    ///
    /// The events for keys that the controller computes are left out, because the host computes its own. Those of
    /// timed scans, of periodic advertising and of subrating are in the mask although this host uses none of them:
    /// without them the playback of a capture from an earlier version would differ from it at once. The older versions of
    /// events stay in: a controller that supports a newer version in the mask sends only that one.
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
        if features.contains(.channelSounding) { mask.formUnion(.sounding) }
        return mask.union(ofResponses(features))
    }

    /// Returns the events of periodic advertising with responses.
    private static func ofResponses(_ features: LEFeatures) -> LEEventMask {
        var mask: LEEventMask = []
        if features.contains(.periodicResponsesScanner) {
            mask.formUnion([.periodicSyncEstablishedV2, .periodicReportV2])
            if features.contains(.periodicSyncTransferRecipient) { mask.insert(.periodicSyncTransferReceivedV2) }
        }
        if features.contains(.periodicResponsesAdvertiser) {
            mask.formUnion([.periodicSubeventDataRequest, .periodicResponseReport])
        }
        return mask
    }
}
