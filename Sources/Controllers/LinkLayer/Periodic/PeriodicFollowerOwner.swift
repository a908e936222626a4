import BluetoothTypes
import EventLoops
import HCI

/// How to follow a train.
struct PeriodicRules {
    /// The number of events that may be skipped after one that was received.
    var skip: UInt16
    /// The time without reception after which the synchronization is lost.
    var timeout: Duration
    /// Whether the data are reported to the host.
    var reports: Bool
}

/// The services that a follower needs from its owner, and its callbacks.
protocol PeriodicFollowerOwner: AnyObject {
    /// Called when the first PDU of the train has been received.
    func followerEstablished(_ follower: PeriodicFollower)
    /// Called when none of the first events was received, or when the synchronization is lost.
    func followerLost(_ follower: PeriodicFollower)
    /// The maximum length of the data in one report, in octets (Core Vol 4 Part E 7.7.65.15).
    var reportSize: Int { get }
    /// Called with data of the train, in whole or in part, and with paEventCounter of the event and the subevent, if
    /// there is one.
    func follower(
        _ follower: PeriodicFollower,
        reports report: LEPeriodicAdvertisingReport,
        event: UInt16,
        subevent: UInt8?
    )
    /// Whether the advertiser's connection request in a subevent can be accepted.
    func follower(_ follower: PeriodicFollower, canAccept request: ConnectIndication) -> Bool
    /// Called when AUX_CONNECT_RSP has been sent, in response to a request that ended at `end`.
    func follower(_ follower: PeriodicFollower, accepts request: ConnectIndication, at end: Instant)
}
