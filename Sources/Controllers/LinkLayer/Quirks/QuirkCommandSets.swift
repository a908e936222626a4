import HCI

/// The legacy and the extended command sets of a controller that refuses every command of one after any command of the
/// other (Core Vol 4 Part E 3.1.1).
struct QuirkCommandSets {
    /// The commands of version 4.0.
    static let legacy: Set<Opcode> = [
        LESetAdvertisingParameters.opcode, LEReadAdvertisingPhysicalChannelTxPower.opcode, LESetAdvertisingData.opcode,
        LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode, LESetScanParameters.opcode, LESetScanEnable.opcode,
        LECreateConnection.opcode,
    ]
    /// The commands of version 5.0 and later, including those that read properties of advertising sets and those for
    /// periodic advertising.
    static let extended: Set<Opcode> = [
        LESetAdvertisingSetRandomAddress.opcode, LESetExtendedAdvertisingParameters.opcode,
        LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode,
        LESetExtendedAdvertisingEnable.opcode, LEReadMaximumAdvertisingDataLength.opcode,
        LEReadNumberOfSupportedAdvertisingSets.opcode, LERemoveAdvertisingSet.opcode, LEClearAdvertisingSets.opcode,
        LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode,
        LEExtendedCreateConnectionV2.opcode, LESetPeriodicAdvertisingParameters.opcode,
        LESetPeriodicAdvertisingParametersV2.opcode, LESetPeriodicAdvertisingData.opcode,
        LESetPeriodicAdvertisingEnable.opcode, LEPeriodicAdvertisingCreateSync.opcode,
        LEPeriodicAdvertisingCreateSyncCancel.opcode, LEPeriodicAdvertisingTerminateSync.opcode,
        LEAddDeviceToPeriodicAdvertiserList.opcode, LERemoveDeviceFromPeriodicAdvertiserList.opcode,
        LEClearPeriodicAdvertiserList.opcode, LEReadPeriodicAdvertiserListSize.opcode,
        LESetPeriodicAdvertisingReceiveEnable.opcode,
    ]

    /// The set of the first such command since the reset.
    private var used = AdvertisingCommandSet.none

    /// Whether the controller accepts a command. After the first one, the other set is refused.
    mutating func admit(_ opcode: Opcode) -> Bool {
        used.admit(Self.legacy.contains(opcode) ? .legacy : Self.extended.contains(opcode) ? .extended : .none)
    }
}
