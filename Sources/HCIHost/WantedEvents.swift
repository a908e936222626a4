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
    /// Left out are the keys that the controller computes, since this host computes its own. The older forms of events stay
    /// in: a controller that knows a newer one, which the host wants too, sends only that.
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
        return mask.union(ofResponses(features))
    }

    /// Those of periodic advertising with responses.
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

extension HCIHost {
    /// Has a connection that comes out of a train told of with its train from now on: LE Enhanced Connection Complete in its second version
    /// (Core Vol 4 Part E 7.7.65.10). Not from the beginning, since that comes in place of the first for every connection, and who
    /// reads captures may know the first alone.
    package func askForTrainsOfConnections() {
        guard case .ready(let controller) = state else { return }
        send(LESetEventMask(mask: .wanted(by: controller).union(.enhancedConnectionCompleteV2)))
    }
}
