import BluetoothTypes

/// A component that uses the radio under an address of the device, and pauses while that address changes.
///
/// Once silent, it calls ``DevicePrivacy/handle(_:)`` with ``QuietMachine/Event/quiet(_:)``.
package protocol RadioUser: AnyObject {
    func pause()
    func resume()
}

/// The advertiser, as a user of the radio.
package protocol AdvertisingUser: RadioUser {
    /// The address to which centrals currently connect.
    var connectableAddress: BluetoothAddress? { get }
}

/// The connector, as a user of the radio.
package protocol ConnectingUser: RadioUser {
    /// Called when the set of peers whose addresses the controller resolves has changed.
    func reviewRoutes()
}
