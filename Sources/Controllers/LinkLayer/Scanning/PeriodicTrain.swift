import BluetoothTypes
import EventLoops
import HCI

/// A periodic advertising train to follow, as known before its first PDU is received.
struct PeriodicTrain {
    /// The advertiser: its identity address if its address was resolved.
    var advertiser: BluetoothAddress
    /// The advertiser's address on the air.
    var address: BluetoothAddress
    var sid: UInt8
    var phy: LEPHY
    var sync: SyncInfo
    /// The subevents and response slots; nil for a train without responses.
    var responses: ResponseTiming?
    /// The earliest start of the AUX_SYNC_IND with ``SyncInfo/counter``.
    var anchor: Instant
    /// The basis of ``anchor``: when the train's location was received, and the accuracy of the sender's clock.
    var reckonedAt: Instant
    var uncertainty: ClockAccuracy
}
