import BluetoothTypes

/// What a link layer can do (Core Vol 6 Part B 4.6).
public struct LEFeatures: WireFlags {
    /// The bits on the wire.
    public var rawValue: UInt64

    /// Any bits, known or not.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// LE Encryption.
    public static let encryption = bit(0)
    /// Connection Parameters Request Procedure.
    public static let connectionParametersRequest = bit(1)
    /// Extended Reject Indication.
    public static let extendedReject = bit(2)
    /// Peripheral-initiated Features Exchange.
    public static let peripheralInitiatedFeaturesExchange = bit(3)
    /// LE Ping.
    public static let ping = bit(4)
    /// LE Data Packet Length Extension.
    public static let dataLengthExtension = bit(5)
    /// LL Privacy.
    public static let privacy = bit(6)
    /// Extended Scanner Filter Policies.
    public static let extendedScannerFilterPolicies = bit(7)
    /// LE 2M PHY.
    public static let phy2M = bit(8)
    /// Stable Modulation Index, transmitter.
    public static let stableModulationTransmitter = bit(9)
    /// Stable Modulation Index, receiver.
    public static let stableModulationReceiver = bit(10)
    /// LE Coded PHY.
    public static let phyCoded = bit(11)
    /// LE Extended Advertising.
    public static let extendedAdvertising = bit(12)
    /// LE Periodic Advertising.
    public static let periodicAdvertising = bit(13)
    /// Channel Selection Algorithm #2.
    public static let channelSelectionAlgorithm2 = bit(14)
    /// LE Power Class 1.
    public static let powerClass1 = bit(15)
    /// Minimum Number of Used Channels Procedure.
    public static let minimumUsedChannels = bit(16)
    /// Connection CTE Request.
    public static let connectionCTERequest = bit(17)
    /// Connection CTE Response.
    public static let connectionCTEResponse = bit(18)
    /// Connectionless CTE Transmitter.
    public static let connectionlessCTETransmitter = bit(19)
    /// Connectionless CTE Receiver.
    public static let connectionlessCTEReceiver = bit(20)
    /// Antenna Switching During CTE Transmission.
    public static let antennaSwitchingTransmitter = bit(21)
    /// Antenna Switching During CTE Reception.
    public static let antennaSwitchingReceiver = bit(22)
    /// Receiving Constant Tone Extensions.
    public static let receivingCTE = bit(23)
    /// Periodic Advertising Sync Transfer, sender.
    public static let periodicSyncTransferSender = bit(24)
    /// Periodic Advertising Sync Transfer, recipient.
    public static let periodicSyncTransferRecipient = bit(25)
    /// Sleep Clock Accuracy Updates.
    public static let sleepClockAccuracyUpdates = bit(26)
    /// Remote Public Key Validation.
    public static let remotePublicKeyValidation = bit(27)
    /// Connected Isochronous Stream, central.
    public static let connectedIsochronousCentral = bit(28)
    /// Connected Isochronous Stream, peripheral.
    public static let connectedIsochronousPeripheral = bit(29)
    /// Isochronous Broadcaster.
    public static let isochronousBroadcaster = bit(30)
    /// Synchronized Receiver.
    public static let synchronizedReceiver = bit(31)
    /// Connected Isochronous Stream, host support.
    public static let connectedIsochronousHost = bit(32)
    /// LE Power Control Request.
    public static let powerControlRequest = bit(33)
    /// LE Power Change Indication.
    public static let powerChangeIndication = bit(34)
    /// LE Path Loss Monitoring.
    public static let pathLossMonitoring = bit(35)
    /// Periodic Advertising ADI.
    public static let periodicAdvertisingADI = bit(36)
    /// Connection Subrating.
    public static let connectionSubrating = bit(37)
    /// Connection Subrating, host support.
    public static let connectionSubratingHost = bit(38)
    /// Channel Classification.
    public static let channelClassification = bit(39)
    /// Advertising Coding Selection.
    public static let advertisingCodingSelection = bit(40)
    /// Advertising Coding Selection, host support.
    public static let advertisingCodingSelectionHost = bit(41)
    /// Decision-Based Advertising Filtering.
    public static let decisionBasedFiltering = bit(42)
    /// Periodic Advertising with Responses, advertiser.
    public static let periodicResponsesAdvertiser = bit(43)
    /// Periodic Advertising with Responses, scanner.
    public static let periodicResponsesScanner = bit(44)
    /// Unsegmented Framed Mode.
    public static let unsegmentedFramedMode = bit(45)
    /// Channel Sounding.
    public static let channelSounding = bit(46)
    /// Channel Sounding, host support.
    public static let channelSoundingHost = bit(47)
    /// Channel Sounding Tone Quality Indication.
    public static let channelSoundingToneQuality = bit(48)
    /// LL Extended Feature Set.
    public static let extendedFeatureSet = bit(63)

    /// The names of the bits, for a log.
    public static let names: [(flag: LEFeatures, name: String)] = [
        (.encryption, "encryption"),
        (.connectionParametersRequest, "connection parameters request"),
        (.extendedReject, "extended reject"),
        (.peripheralInitiatedFeaturesExchange, "peripheral initiated features exchange"),
        (.ping, "LE ping"),
        (.dataLengthExtension, "data length extension"),
        (.privacy, "privacy"),
        (.extendedScannerFilterPolicies, "extended scanner filter policies"),
        (.phy2M, "2M PHY"),
        (.stableModulationTransmitter, "stable modulation transmitter"),
        (.stableModulationReceiver, "stable modulation receiver"),
        (.phyCoded, "Coded PHY"),
        (.extendedAdvertising, "extended advertising"),
        (.periodicAdvertising, "periodic advertising"),
        (.channelSelectionAlgorithm2, "channel selection algorithm2"),
        (.powerClass1, "power class1"),
        (.minimumUsedChannels, "minimum used channels"),
        (.connectionCTERequest, "connection CTE request"),
        (.connectionCTEResponse, "connection CTE response"),
        (.connectionlessCTETransmitter, "connectionless CTE transmitter"),
        (.connectionlessCTEReceiver, "connectionless CTE receiver"),
        (.antennaSwitchingTransmitter, "antenna switching transmitter"),
        (.antennaSwitchingReceiver, "antenna switching receiver"),
        (.receivingCTE, "receiving CTE"),
        (.periodicSyncTransferSender, "periodic sync transfer sender"),
        (.periodicSyncTransferRecipient, "periodic sync transfer recipient"),
        (.sleepClockAccuracyUpdates, "sleep clock accuracy updates"),
        (.remotePublicKeyValidation, "remote public key validation"),
        (.connectedIsochronousCentral, "connected isochronous central"),
        (.connectedIsochronousPeripheral, "connected isochronous peripheral"),
        (.isochronousBroadcaster, "isochronous broadcaster"),
        (.synchronizedReceiver, "synchronized receiver"),
        (.connectedIsochronousHost, "connected isochronous host"),
        (.powerControlRequest, "power control request"),
        (.powerChangeIndication, "power change indication"),
        (.pathLossMonitoring, "path loss monitoring"),
        (.periodicAdvertisingADI, "periodic advertising ADI"),
        (.connectionSubrating, "connection subrating"),
        (.connectionSubratingHost, "connection subrating host"),
        (.channelClassification, "channel classification"),
        (.advertisingCodingSelection, "advertising coding selection"),
        (.advertisingCodingSelectionHost, "advertising coding selection host"),
        (.decisionBasedFiltering, "decision based filtering"),
        (.periodicResponsesAdvertiser, "periodic responses advertiser"),
        (.periodicResponsesScanner, "periodic responses scanner"),
        (.unsegmentedFramedMode, "unsegmented framed mode"),
        (.channelSounding, "channel sounding"),
        (.channelSoundingHost, "channel sounding host"),
        (.channelSoundingToneQuality, "channel sounding tone quality"),
        (.extendedFeatureSet, "extended feature set"),
    ]
}
