import BluetoothTypes

/// The features of a link layer, page 0 (Core Vol 6 Part B 4.6).
package struct LEFeatures: WireFlags {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// LE Encryption, of links with AES-CCM.
    package static let encryption = bit(0)
    package static let connectionParametersRequest = bit(1)
    /// Extended Reject Indication, which names the rejected PDU: LL_REJECT_EXT_IND.
    package static let extendedReject = bit(2)
    /// Peripheral-initiated Features Exchange: LL_PERIPHERAL_FEATURE_REQ.
    package static let peripheralInitiatedFeaturesExchange = bit(3)
    /// LE Ping, which verifies an idle encrypted link.
    package static let ping = bit(4)
    package static let dataLengthExtension = bit(5)
    /// LL Privacy: the controller resolves and generates private addresses.
    package static let privacy = bit(6)
    package static let extendedScannerFilterPolicies = bit(7)
    /// LE 2M PHY, with 2 Mbit/s.
    package static let phy2M = bit(8)
    /// LE Coded PHY, for long range.
    package static let phyCoded = bit(11)
    /// LE Extended Advertising, with advertising sets and secondary channels.
    package static let extendedAdvertising = bit(12)
    /// LE Periodic Advertising, to which scanners synchronize.
    package static let periodicAdvertising = bit(13)
    package static let channelSelectionAlgorithm2 = bit(14)
    package static let minimumUsedChannels = bit(16)
    /// Connection CTE Request: requests a Constant Tone Extension from a peer.
    package static let connectionCTERequest = bit(17)
    /// Connectionless CTE Transmitter, which sends Constant Tone Extensions in periodic advertising.
    package static let connectionlessCTETransmitter = bit(19)
    /// Connectionless CTE Receiver, which receives Constant Tone Extensions in periodic advertising.
    package static let connectionlessCTEReceiver = bit(20)
    /// Antenna Switching During CTE Transmission.
    package static let antennaSwitchingTransmitter = bit(21)
    /// Antenna Switching During CTE Reception.
    package static let antennaSwitchingReceiver = bit(22)
    package static let periodicSyncTransferSender = bit(24)
    package static let periodicSyncTransferRecipient = bit(25)
    package static let sleepClockAccuracyUpdates = bit(26)
    package static let remotePublicKeyValidation = bit(27)
    package static let connectedIsochronousCentral = bit(28)
    package static let connectedIsochronousPeripheral = bit(29)
    package static let connectedIsochronousHost = bit(32)
    package static let powerControlRequest = bit(33)
    /// Periodic Advertising ADI: the packets of a train may carry the ADI field.
    package static let periodicAdvertisingADI = bit(36)
    /// Connection Subrating: a link may use every n-th connection event only.
    package static let connectionSubrating = bit(37)
    package static let connectionSubratingHost = bit(38)
    /// Channel Classification: a peripheral reports good and bad channels to the central.
    package static let channelClassification = bit(39)
    package static let advertisingCodingSelectionHost = bit(41)
    /// Decision-Based Advertising Filtering, by the data in ADV_DECISION_IND.
    package static let decisionBasedFiltering = bit(42)
    package static let periodicResponsesAdvertiser = bit(43)
    package static let periodicResponsesScanner = bit(44)
    /// Channel Sounding, which measures the distance to a peer.
    package static let channelSounding = bit(46)
    /// The number of ``channelSoundingHost``, which the host sets.
    package static let channelSoundingHostBit: UInt8 = 47
    package static let channelSoundingHost = bit(Int(channelSoundingHostBit))
    package static let channelSoundingToneQuality = bit(48)
    package static let extendedFeatureSet = bit(63)

    package static let names: [(flag: LEFeatures, name: String)] = [
        (.encryption, "encryption"),
        (.connectionParametersRequest, "connection parameters request"),
        (.extendedReject, "extended reject"),
        (.peripheralInitiatedFeaturesExchange, "peripheral initiated features exchange"),
        (.ping, "LE ping"),
        (.dataLengthExtension, "data length extension"),
        (.privacy, "privacy"),
        (.extendedScannerFilterPolicies, "extended scanner filter policies"),
        (.phy2M, "2M PHY"),
        (bit(9), "stable modulation transmitter"),
        (bit(10), "stable modulation receiver"),
        (.phyCoded, "Coded PHY"),
        (.extendedAdvertising, "extended advertising"),
        (.periodicAdvertising, "periodic advertising"),
        (.channelSelectionAlgorithm2, "channel selection algorithm #2"),
        (bit(15), "power class 1"),
        (.minimumUsedChannels, "minimum used channels"),
        (.connectionCTERequest, "connection CTE request"),
        (bit(18), "connection CTE response"),
        (.connectionlessCTETransmitter, "connectionless CTE transmitter"),
        (.connectionlessCTEReceiver, "connectionless CTE receiver"),
        (.antennaSwitchingTransmitter, "antenna switching transmitter"),
        (.antennaSwitchingReceiver, "antenna switching receiver"),
        (bit(23), "receiving CTE"),
        (.periodicSyncTransferSender, "periodic sync transfer sender"),
        (.periodicSyncTransferRecipient, "periodic sync transfer recipient"),
        (.sleepClockAccuracyUpdates, "sleep clock accuracy updates"),
        (.remotePublicKeyValidation, "remote public key validation"),
        (.connectedIsochronousCentral, "connected isochronous central"),
        (.connectedIsochronousPeripheral, "connected isochronous peripheral"),
        (bit(30), "isochronous broadcaster"),
        (bit(31), "synchronized receiver"),
        (.connectedIsochronousHost, "connected isochronous host"),
        (.powerControlRequest, "power control request"),
        (bit(34), "power change indication"),
        (bit(35), "path loss monitoring"),
        (.periodicAdvertisingADI, "periodic advertising ADI"),
        (.connectionSubrating, "connection subrating"),
        (.connectionSubratingHost, "connection subrating host"),
        (.channelClassification, "channel classification"),
        (bit(40), "advertising coding selection"),
        (.advertisingCodingSelectionHost, "advertising coding selection host"),
        (.decisionBasedFiltering, "decision based filtering"),
        (.periodicResponsesAdvertiser, "periodic responses advertiser"),
        (.periodicResponsesScanner, "periodic responses scanner"),
        (bit(45), "unsegmented framed mode"),
        (.channelSounding, "channel sounding"),
        (.channelSoundingHost, "channel sounding host"),
        (.channelSoundingToneQuality, "channel sounding tone quality"),
        (.extendedFeatureSet, "extended feature set"),
    ]
}
