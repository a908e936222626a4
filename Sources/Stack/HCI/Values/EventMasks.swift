import BluetoothTypes

/// The mask of events that a controller may send (Core Vol 4 Part E 7.3.1). Only the events that LE needs have names.
package struct EventMask: WireFlags {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let disconnectionComplete = bit(4)
    package static let encryptionChange = bit(7)
    package static let readRemoteVersionInformationComplete = bit(11)
    package static let hardwareError = bit(15)
    /// Data Buffer Overflow: the host sent more packets than there were buffers.
    package static let dataBufferOverflow = bit(25)
    package static let encryptionKeyRefreshComplete = bit(47)
    /// All LE events that ``LEEventMask`` permits.
    package static let leMeta = bit(61)

    /// The default mask of a controller, without LE events.
    package static let initial = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF)

    package static let names: [(flag: EventMask, name: String)] = [
        (.disconnectionComplete, "disconnection complete"),
        (.encryptionChange, "encryption change"),
        (.readRemoteVersionInformationComplete, "read remote version information complete"),
        (.hardwareError, "hardware error"),
        (.dataBufferOverflow, "data buffer overflow"),
        (.encryptionKeyRefreshComplete, "encryption key refresh complete"),
        (.leMeta, "LE meta"),
    ]
}

/// The second page of the event mask (Core Vol 4 Part E 7.3.69).
package struct EventMaskPage2: WireFlags {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let authenticatedPayloadTimeoutExpired = bit(23)
    package static let encryptionChangeV2 = bit(25)

    package static let names: [(flag: EventMaskPage2, name: String)] = [
        (.authenticatedPayloadTimeoutExpired, "authenticated payload timeout expired"),
        (.encryptionChangeV2, "encryption change v2"),
    ]
}

/// The mask of LE events that a controller may send (Core Vol 4 Part E 7.8.1). The bit number is the subevent code
/// minus one.
package struct LEEventMask: WireFlags {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// LE Connection Complete, in place of which LE Enhanced Connection Complete is sent if that is enabled too.
    package static let connectionComplete = bit(0)
    /// LE Advertising Report, with legacy scanning commands.
    package static let advertisingReport = bit(1)
    package static let connectionUpdateComplete = bit(2)
    package static let readRemoteFeaturesComplete = bit(3)
    package static let longTermKeyRequest = bit(4)
    package static let remoteConnectionParameterRequest = bit(5)
    package static let dataLengthChange = bit(6)
    package static let enhancedConnectionComplete = bit(9)
    package static let directedAdvertisingReport = bit(10)
    package static let phyUpdateComplete = bit(11)
    package static let extendedAdvertisingReport = bit(12)
    package static let periodicSyncEstablished = bit(13)
    package static let periodicReport = bit(14)
    package static let periodicSyncLost = bit(15)
    package static let scanTimeout = bit(16)
    package static let advertisingSetTerminated = bit(17)
    package static let scanRequestReceived = bit(18)
    package static let channelSelectionAlgorithm = bit(19)
    package static let periodicSyncTransferReceived = bit(23)
    package static let subrateChange = bit(34)
    package static let periodicSyncEstablishedV2 = bit(35)
    package static let periodicReportV2 = bit(36)
    package static let periodicSyncTransferReceivedV2 = bit(37)
    package static let periodicSubeventDataRequest = bit(38)
    package static let periodicResponseReport = bit(39)
    package static let enhancedConnectionCompleteV2 = bit(40)
    package static let soundingRemoteCapabilities = bit(43)
    package static let soundingRemoteFAETable = bit(44)
    package static let soundingSecurityEnabled = bit(45)
    package static let soundingConfiguration = bit(46)
    package static let soundingProcedureEnabled = bit(47)
    package static let soundingSubeventResult = bit(48)
    package static let soundingSubeventResultContinue = bit(49)
    /// All events of Channel Sounding.
    package static let sounding: LEEventMask = [
        .soundingRemoteCapabilities, .soundingRemoteFAETable, .soundingSecurityEnabled, .soundingConfiguration,
        .soundingProcedureEnabled, .soundingSubeventResult, .soundingSubeventResultContinue,
    ]

    /// The default mask of a controller: the five events of version 4.0.
    package static let initial = LEEventMask(rawValue: 0x1F)

    package func allows(_ subevent: LESubevent) -> Bool {
        subevent.rawValue >= 1 && subevent.rawValue <= 64 && rawValue >> UInt64(subevent.rawValue - 1) & 1 == 1
    }

    package static let names: [(flag: LEEventMask, name: String)] = [
        (.connectionComplete, "connection complete"),
        (.advertisingReport, "advertising report"),
        (.connectionUpdateComplete, "connection update complete"),
        (.readRemoteFeaturesComplete, "read remote features complete"),
        (.longTermKeyRequest, "long term key request"),
        (.remoteConnectionParameterRequest, "remote connection parameter request"),
        (.dataLengthChange, "data length change"),
        (bit(7), "read local public key complete"),
        (bit(8), "generate DH key complete"),
        (.enhancedConnectionComplete, "enhanced connection complete"),
        (.directedAdvertisingReport, "directed advertising report"),
        (.phyUpdateComplete, "PHY update complete"),
        (.extendedAdvertisingReport, "extended advertising report"),
        (.periodicSyncEstablished, "periodic sync established"),
        (.periodicReport, "periodic report"),
        (.periodicSyncLost, "periodic sync lost"),
        (.scanTimeout, "scan timeout"),
        (.advertisingSetTerminated, "advertising set terminated"),
        (.scanRequestReceived, "scan request received"),
        (.channelSelectionAlgorithm, "channel selection algorithm"),
        (.periodicSyncTransferReceived, "periodic sync transfer received"),
        (bit(30), "request peer SCA complete"),
        (.subrateChange, "subrate change"),
        (.periodicSyncEstablishedV2, "periodic sync established v2"),
        (.periodicReportV2, "periodic report v2"),
        (.periodicSyncTransferReceivedV2, "periodic sync transfer received v2"),
        (.periodicSubeventDataRequest, "periodic subevent data request"),
        (.periodicResponseReport, "periodic response report"),
        (.enhancedConnectionCompleteV2, "enhanced connection complete v2"),
        (.soundingRemoteCapabilities, "CS remote capabilities"),
        (.soundingRemoteFAETable, "CS remote FAE table"),
        (.soundingSecurityEnabled, "CS security enabled"),
        (.soundingConfiguration, "CS configuration"),
        (.soundingProcedureEnabled, "CS procedure enabled"),
        (.soundingSubeventResult, "CS subevent result"),
        (.soundingSubeventResultContinue, "CS subevent result continue"),
    ]
}
