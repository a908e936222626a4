import BluetoothTypes

/// One that uses the radio under an address of the device, and falls silent while that changes. Says when it is silent with
/// ``DevicePrivacy/handle(_:)``.
package protocol RadioUser: AnyObject {
    func pause()
    func resume()
}

/// Advertises.
package protocol AdvertisingUser: RadioUser {
    /// The address that centrals connect to at this moment.
    var connectableAddress: BluetoothAddress? { get }
}

/// Connects.
package protocol ConnectingUser: RadioUser {
    /// Whose addresses the controller knows has changed.
    func reviewRoutes()
}
