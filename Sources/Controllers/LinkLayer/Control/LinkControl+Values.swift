import EventLoops
import HCI

/// The requests, actions and reports of the control procedures, and the states of a procedure.
extension LinkControl {
    /// A procedure requested by the host or by the link itself.
    enum Request: Hashable {
        case version
        case features
        case dataLength(octets: UInt16, time: UInt16)
        case phy(tx: LEPHYs, rx: LEPHYs)
        case parameters(ConnectionParameterRequest)
        case channelMap(ChannelMap)
        case clockAccuracy
        case encrypt(EncryptionMachine.Start)
        case ping
        case subrate(SubrateRequest)
        case sounding(SoundingProcedure)
        case periodicSync(PeriodicSyncIndication)
        case terminate(HCIStatus)
    }

    /// An action for the link to carry out.
    enum Action: Hashable {
        case send(ControlPDU)
        case report(Report)
        /// Move the anchor point and change the timing, at this event.
        case applyTiming(ConnectionUpdateIndication)
        case applyChannelMap(ChannelMap)
        /// Use the events of the old and of the new subrating, until the peripheral has acknowledged the change.
        case announceSubrate(SubrateIndication)
        /// Use the events of this subrating from now on.
        case applySubrate(SubrateIndication)
        /// Carry out these procedures of Channel Sounding.
        case startSounding(SoundingSchedule)
        case stopSounding
        /// The peer has transferred a periodic advertising train.
        case trainTransferred(PeriodicSyncIndication)
        /// The peer has reported the accuracy of its sleep clock.
        case applyPeerAccuracy(ClockAccuracy)
        /// Send only PDUs of the encryption procedures, until ``release``.
        case hold
        case release
        /// Encrypt transmissions with this session from now on; nil to stop encrypting.
        case transmit(EncryptionSession?)
        /// Decrypt received PDUs with this session from now on; nil to stop decrypting.
        case receive(EncryptionSession?)
        /// Send LL_TERMINATE_IND with this reason, and end the link once it is acknowledged.
        case terminate(HCIStatus)
        /// End the link at once, without LL_TERMINATE_IND.
        case end(HCIStatus)
        /// End the link once the acknowledgement of the peer's PDU has been sent.
        case endAfterAnswer(HCIStatus)
    }

    /// An event for the host.
    enum Report: Hashable {
        case version(HCIStatus, VersionIndication)
        case features(HCIStatus, LEFeatures)
        case dataLength
        case phy(HCIStatus)
        case parameters(HCIStatus)
        case parameterRequest(ConnectionParameterRequest)
        case clockAccuracy(HCIStatus, ClockAccuracy)
        case subrate(HCIStatus, SubrateIndication)
        case sounding(SoundingReport)
        case encryption(HCIStatus)
        case keyRefresh(HCIStatus)
        case longTermKeyRequest(_ random: UInt64, _ diversifier: UInt16)
    }

    /// The state of a procedure that this device has started.
    enum Local: Hashable {
        case version
        case features
        case length
        case clockAccuracy
        case ping
        /// The peer's response is due.
        case sounding(SoundingProcedure)
        /// The peripheral has sent the request; the central's decision is due.
        case subrateAwaitingIndication
        /// The central has announced its decision; the peripheral's acknowledgement is due.
        case subrateAwaitingAcknowledgement
        /// The central has sent the request; the peripheral's response is due.
        case parametersAwaitingResponse(ConnectionParameterRequest)
        /// The central has sent the request; the peripheral's response is due.
        case phyAwaitingResponse(tx: LEPHYs, rx: LEPHYs)
        /// The peripheral has sent the request; the central's decision is due.
        case phyAwaitingIndication
        /// The peripheral has sent the request; the central's decision is due.
        case parametersAwaitingIndication
        /// The change takes effect at its instant.
        case awaitingInstant
    }

    /// The state of a procedure that the peer has started.
    enum Remote: Hashable {
        /// The host has been asked.
        case parametersAwaitingHost(ConnectionParameterRequest)
        /// The peripheral has responded; the central's decision is due.
        case parametersAwaitingIndication
        /// The peripheral has responded; the central's decision is due.
        case phyAwaitingIndication
        /// The central has announced its decision; the peripheral's acknowledgement is due.
        case subrateAwaitingAcknowledgement
        /// The peripheral has accepted the start of Channel Sounding; the central's decision is due.
        case soundingAwaitingIndication
        /// The change takes effect at its instant.
        case awaitingInstant
    }

    /// A change that takes effect at an instant.
    enum Change: Hashable {
        case timing(ConnectionUpdateIndication)
        case channelMap(ChannelMap)
        case phy(tx: LEPHY?, rx: LEPHY?)
    }

    /// The constant properties of a link.
    struct Setup {
        var role: LinkRole
        var features: LEFeatures
        var version: VersionIndication
        /// The PHYs that this device prefers when the peer starts the PHY update.
        var preferredPHYs: PHYPreferences
        var phys: LEPHYs
        var dataLength: DataLength
        /// The accuracy of this device's sleep clock.
        var accuracy: ClockAccuracy
        /// The PHY with which the connection starts.
        var firstPHY = LEPHY.le1M
        /// The subrating parameters that a central accepts from the peripheral.
        var acceptableSubrate = SubrateRequest.initial
        /// The capabilities for Channel Sounding; nil without the feature.
        var sounding: LESoundingCapabilities?
        /// The source of session key diversifiers and initialization vectors.
        var random: RandomSource
        /// Whether the host has enabled the event that asks it for connection parameters.
        var hostAnswersParameters: () -> Bool
        /// Whether the host has enabled the event that asks it for keys.
        var hostHasKeys: () -> Bool
    }
}

extension LinkControl.Change {
    /// The kind of a change.
    enum Kind: Hashable {
        case timing
        case channelMap
        case phy
    }

    var kind: Kind {
        switch self {
        case .timing: .timing
        case .channelMap: .channelMap
        case .phy: .phy
        }
    }

    /// The change as applied in an event that has started: the received anchor point is already the new one.
    var late: Self {
        guard case .timing(var pdu) = self else { return self }
        (pdu.windowOffset, pdu.windowSize) = (0, 0)
        return .timing(pdu)
    }
}

/// The role of this device in a connection (Core Vol 6 Part B 4.5).
enum LinkRole: Hashable {
    /// The device that initiated the connection, and that determines its timing.
    case central
    /// The device that advertised.
    case peripheral
}

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
