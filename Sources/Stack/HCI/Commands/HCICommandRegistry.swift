import BluetoothTypes

/// The commands that this module defines, by opcode.
package enum HCICommandRegistry {
    /// The types of all commands.
    package static let all: [any HCICommand.Type] = [
        Disconnect.self,
        ReadRemoteVersionInformation.self,
        SetEventMask.self,
        Reset.self,
        ReadTransmitPowerLevel.self,
        SetControllerToHostFlowControl.self,
        HostBufferSize.self,
        HostNumberOfCompletedPackets.self,
        SetEventMaskPage2.self,
        WriteLEHostSupport.self,
        ReadAuthenticatedPayloadTimeout.self,
        WriteAuthenticatedPayloadTimeout.self,
        ReadLocalVersionInformation.self,
        ReadLocalSupportedCommands.self,
        ReadLocalSupportedFeatures.self,
        ReadBufferSize.self,
        ReadBDADDR.self,
        ReadRSSI.self,
        LESetEventMask.self,
        LEReadBufferSize.self,
        LEReadBufferSizeV2.self,
        LEReadLocalSupportedFeatures.self,
        LEReadAllLocalSupportedFeatures.self,
        LESetRandomAddress.self,
        LEReadSupportedStates.self,
        LEReadTransmitPower.self,
        LEReadRFPathCompensation.self,
        LEWriteRFPathCompensation.self,
        LERequestPeerSCA.self,
        LESetHostFeature.self,
        LESetAdvertisingParameters.self,
        LEReadAdvertisingPhysicalChannelTxPower.self,
        LESetAdvertisingData.self,
        LESetScanResponseData.self,
        LESetAdvertisingEnable.self,
        LESetScanParameters.self,
        LESetScanEnable.self,
        LECreateConnection.self,
        LECreateConnectionCancel.self,
        LEConnectionUpdate.self,
        LESetHostChannelClassification.self,
        LEReadChannelMap.self,
        LEReadRemoteFeatures.self,
        LERemoteConnectionParameterRequestReply.self,
        LERemoteConnectionParameterRequestNegativeReply.self,
        LEReadFilterAcceptListSize.self,
        LEClearFilterAcceptList.self,
        LEAddDeviceToFilterAcceptList.self,
        LERemoveDeviceFromFilterAcceptList.self,
        LEEncrypt.self,
        LERand.self,
        LEEnableEncryption.self,
        LELongTermKeyRequestReply.self,
        LELongTermKeyRequestNegativeReply.self,
        LEReadLocalP256PublicKey.self,
        LEGenerateDHKey.self,
        LEGenerateDHKeyV2.self,
        LESetDataLength.self,
        LEReadSuggestedDefaultDataLength.self,
        LEWriteSuggestedDefaultDataLength.self,
        LEReadMaximumDataLength.self,
        LEReadPHY.self,
        LESetDefaultPHY.self,
        LESetPHY.self,
        LEAddDeviceToResolvingList.self,
        LERemoveDeviceFromResolvingList.self,
        LEClearResolvingList.self,
        LEReadResolvingListSize.self,
        LEReadPeerResolvableAddress.self,
        LEReadLocalResolvableAddress.self,
        LESetAddressResolutionEnable.self,
        LESetResolvablePrivateAddressTimeout.self,
        LESetResolvablePrivateAddressTimeoutV2.self,
        LESetPrivacyMode.self,
        LESetDataRelatedAddressChanges.self,
        LESetAdvertisingSetRandomAddress.self,
        LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingParametersV2.self,
        LESetExtendedAdvertisingData.self,
        LESetExtendedScanResponseData.self,
        LESetExtendedAdvertisingEnable.self,
        LEReadMaximumAdvertisingDataLength.self,
        LEReadNumberOfSupportedAdvertisingSets.self,
        LERemoveAdvertisingSet.self,
        LEClearAdvertisingSets.self,
        LESetExtendedScanEnable.self,
        LESetExtendedScanParameters.self,
        LEExtendedCreateConnection.self,
        LEExtendedCreateConnectionV2.self,
        LESetDefaultSubrate.self,
        LESubrateRequest.self,
        LESetPeriodicAdvertisingParameters.self,
        LESetPeriodicAdvertisingParametersV2.self,
        LESetPeriodicAdvertisingData.self,
        LESetPeriodicAdvertisingEnable.self,
        LEPeriodicAdvertisingCreateSync.self,
        LEPeriodicAdvertisingCreateSyncCancel.self,
        LEPeriodicAdvertisingTerminateSync.self,
        LEAddDeviceToPeriodicAdvertiserList.self,
        LERemoveDeviceFromPeriodicAdvertiserList.self,
        LEClearPeriodicAdvertiserList.self,
        LEReadPeriodicAdvertiserListSize.self,
        LESetPeriodicAdvertisingReceiveEnable.self,
        LEPeriodicAdvertisingSyncTransfer.self,
        LEPeriodicAdvertisingSetInfoTransfer.self,
        LESetPeriodicAdvertisingSyncTransferParameters.self,
        LESetDefaultPeriodicAdvertisingSyncTransferParameters.self,
        LESetPeriodicAdvertisingSubeventData.self,
        LESetPeriodicAdvertisingResponseData.self,
        LESetPeriodicSyncSubevent.self,
    ]

    private static let byOpcode = Dictionary(uniqueKeysWithValues: all.map { ($0.opcode, $0) })

    /// Returns the type of the command with an opcode, or nil if it is not defined.
    package static func type(for opcode: Opcode) -> (any HCICommand.Type)? {
        byOpcode[opcode]
    }

    /// Parses a command.
    ///
    /// - Returns: The command, or nil if it is not defined.
    /// - Throws: ``PacketError`` if the parameters are truncated, malformed or too long.
    package static func decode(_ packet: CommandPacket) throws(PacketError) -> (any HCICommand)? {
        guard let type = byOpcode[packet.opcode] else { return nil }
        return try type.init(reading: packet.parameters)
    }

    /// Returns the type of a command's return parameters.
    static func response<C: HCICommand>(of command: C.Type) -> any HCIResponse.Type { C.Response.self }
}
