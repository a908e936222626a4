import BluetoothTypes

/// The identities of the two devices of a link, behind the addresses used to make it.
struct LinkIdentities: Hashable {
    /// The address by which the peer identifies this device; nil if the peer has a key for that.
    var own: BluetoothAddress?
    /// The private address that this controller has generated for itself, if any.
    var ownPrivate: BluetoothAddress?
    var peer: HeardDevice

    /// The peer's private address, if it was resolved.
    var peerPrivate: BluetoothAddress? { peer.isResolved ? peer.address : nil }

    /// Whether a link with these addresses would be between the same two devices.
    func areThose(of own: BluetoothAddress?, and peer: BluetoothAddress) -> Bool {
        self.peer.identity.device == peer.device && (own == nil || self.own == nil || own == self.own)
    }
}
