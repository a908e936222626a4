import BluetoothTypes
import EventLoops
import HCI

/// A train that is to be followed, as far as it is known before its first PDU has been heard.
struct PeriodicTrain {
    /// Who advertises: the identity if the address was resolved.
    var advertiser: BluetoothAddress
    /// The address on the air.
    var address: BluetoothAddress
    var sid: UInt8
    var phy: LEPHY
    var sync: SyncInfo
    /// How its events are divided; nil for a train without responses.
    var responses: ResponseTiming?
    /// When the AUX_SYNC_IND with ``SyncInfo/counter`` begins at the earliest.
    var anchor: Instant
    /// By what that is reckoned: when somebody was heard, and how good his clock is.
    var reckonedAt: Instant
    var uncertainty: ClockAccuracy
}

/// How a train is followed.
struct PeriodicRules {
    /// Events that may be left out behind one that was heard.
    var skip: UInt16
    /// After how long without the train it is lost.
    var timeout: Duration
    /// Whether the host is told of the data.
    var reports: Bool
}

/// What a follower tells.
protocol PeriodicFollowerOwner: AnyObject {
    /// The first PDU of the train has come.
    func followerEstablished(_ follower: PeriodicFollower)
    /// None of the first events was heard, or the train has been lost.
    func followerLost(_ follower: PeriodicFollower)
    /// Octets of data that one report has room for (Core Vol 4 Part E 7.7.65.15).
    var reportSize: Int { get }
    /// Data of the train, or a part of them, with paEventCounter of the event, and the subevent if there are any.
    func follower(
        _ follower: PeriodicFollower,
        reports report: LEPeriodicAdvertisingReport,
        event: UInt16,
        subevent: UInt8?
    )
    /// Whether the advertiser may connect, who has asked for it in a subevent.
    func follower(_ follower: PeriodicFollower, canAccept request: ConnectIndication) -> Bool
    /// AUX_CONNECT_RSP has been sent; the request ended at an instant.
    func follower(_ follower: PeriodicFollower, accepts request: ConnectIndication, at end: Instant)
}
