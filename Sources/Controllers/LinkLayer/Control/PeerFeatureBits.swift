import HCI

/// The bits of FeatureSet in the exchange with a peer (Core Vol 6 Part B 4.6, Table 4.9).
///
/// Only page 0 is exchanged: without LL Extended Feature Set no controller has a feature of a later page.
extension LEFeatures {
    /// The features that concern a controller and its own host, whose bits are zero in the exchange.
    static let betweenHostAndController: LEFeatures = [
        .remotePublicKeyValidation, .decisionBasedFiltering, .channelSoundingToneQuality,
    ]

    /// The features that may be sent, and that a peer ignores. They do not tell whether a peer supports a procedure, so
    /// that a ping, for example, is sent to every peer (5.1.8).
    static let withoutMeaningForPeers: LEFeatures = [
        .ping, .privacy, .extendedScannerFilterPolicies, .extendedAdvertising, .periodicAdvertising,
        .connectionlessCTETransmitter, .connectionlessCTEReceiver, .antennaSwitchingTransmitter,
        .antennaSwitchingReceiver, .periodicAdvertisingADI,
    ]

    /// The features with the bits that are sent to a peer.
    var sentToPeer: LEFeatures { subtracting(.betweenHostAndController) }

    /// The features of a device on a connection: the first octet has those that the other device has as well, and the
    /// rest those of the device itself (5.1.4).
    func used(with other: LEFeatures) -> LEFeatures { LEFeatures(rawValue: rawValue & (other.rawValue | ~0xFF)) }

    /// The features of a peer that tell whether it supports a procedure.
    var meaningfulFromPeer: LEFeatures {
        subtracting(.betweenHostAndController).subtracting(.withoutMeaningForPeers)
    }
}
