import BluetoothTypes

/// The events that this module defines, by event and subevent code.
package enum HCIEventRegistry {
    private struct Key: Hashable {
        var code: EventCode
        var subevent: LESubevent?
    }

    package static let all: [any HCIEvent.Type] = [
        CommandComplete.self,
        CommandStatus.self,
        DisconnectionComplete.self,
        EncryptionChange.self,
        EncryptionChangeV2.self,
        EncryptionKeyRefreshComplete.self,
        ReadRemoteVersionInformationComplete.self,
        AuthenticatedPayloadTimeoutExpired.self,
        HardwareError.self,
        NumberOfCompletedPackets.self,
        DataBufferOverflow.self,
        LEConnectionComplete.self,
        LEEnhancedConnectionComplete.self,
        LEEnhancedConnectionCompleteV2.self,
        LEConnectionUpdateComplete.self,
        LERemoteConnectionParameterRequest.self,
        LEChannelSelectionAlgorithm.self,
        LEReadRemoteFeaturesComplete.self,
        LELongTermKeyRequest.self,
        LEReadLocalP256PublicKeyComplete.self,
        LEGenerateDHKeyComplete.self,
        LEDataLengthChange.self,
        LEPHYUpdateComplete.self,
        LEAdvertisingReport.self,
        LEDirectedAdvertisingReport.self,
        LEExtendedAdvertisingReport.self,
        LEScanTimeout.self,
        LEAdvertisingSetTerminated.self,
        LEScanRequestReceived.self,
        LERequestPeerSCAComplete.self,
        LEPeriodicAdvertisingSyncEstablished.self,
        LEPeriodicAdvertisingReport.self,
        LEPeriodicAdvertisingSyncLost.self,
        LEPeriodicAdvertisingSyncTransferReceived.self,
        LEPeriodicAdvertisingSyncEstablishedV2.self,
        LEPeriodicAdvertisingReportV2.self,
        LEPeriodicAdvertisingSyncTransferReceivedV2.self,
        LEPeriodicAdvertisingSubeventDataRequest.self,
        LEPeriodicAdvertisingResponseReport.self,
        LESubrateChange.self,
        LECSReadRemoteSupportedCapabilitiesComplete.self,
        LECSReadRemoteFAETableComplete.self,
        LECSSecurityEnableComplete.self,
        LECSConfigComplete.self,
        LECSProcedureEnableComplete.self,
        LECSSubeventResult.self,
        LECSSubeventResultContinue.self,
    ]

    private static let byNumber = Dictionary(
        uniqueKeysWithValues: all.map { (Key(code: $0.eventCode, subevent: $0.subevent), $0) }
    )

    /// Returns the type of the event with these codes, or nil if it is not defined.
    package static func type(for code: EventCode, subevent: LESubevent? = nil) -> (any HCIEvent.Type)? {
        byNumber[Key(code: code, subevent: subevent)]
    }

    /// Parses an event.
    ///
    /// - Returns: The event, or nil if it is not defined, such as a vendor-specific event.
    /// - Throws: ``PacketError`` if the parameters are truncated or malformed.
    package static func decode(_ packet: EventPacket) throws(PacketError) -> (any HCIEvent)? {
        guard let type = type(for: packet.code, subevent: packet.subevent) else { return nil }
        return try type.reading(packet.eventParameters)
    }
}
