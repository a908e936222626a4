import BluetoothTypes
import Security

/// The device that broadcasts or observes periodic advertising, as far as those procedures use it.
protocol PeriodicDevice: LinkDevice {
    var advertiser: HostAdvertiser { get }
    var trains: PeriodicObserver { get }
    /// The device's own trains with responses.
    var subevents: SubeventRouter { get }
    /// The address for connection requests; nil if there is none.
    var sharedAddress: OwnAddress? { get }

    /// Starts a scan. There is one owner at a time. `onEnd` is called when the scan ends by itself.
    func scan(
        _ settings: ScanSettings,
        for owner: AnyObject,
        onSighting: @escaping (Sighting) -> Void,
        onEnd: @escaping (GAPError?) -> Void
    ) throws(GAPError)
    /// Ends the scan of an owner without calling its `onEnd`.
    func endScan(for owner: AnyObject)
    /// Reports each link made as central, or the reason for a failure, to `owner`.
    func watchConnections(
        for owner: AnyObject,
        _ tell: @escaping (Result<AccessLink, GAPError>, BluetoothAddress?) -> Void
    )
    /// Stops reporting connections to `owner`.
    func unwatchConnections(for owner: AnyObject)
}
