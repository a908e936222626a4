import BluetoothTypes

/// Who the two devices of a link are, whatever addresses they have made it with.
struct LinkIdentities: Hashable {
    /// By what address the peer tells this device from others; nil when it has a key for that.
    var own: BluetoothAddress?
    /// The private address that this controller has made for itself, if it has.
    var ownPrivate: BluetoothAddress?
    /// The peer.
    var peer: HeardDevice

    /// The peer's private address, if it was resolved.
    var peerPrivate: BluetoothAddress? { peer.isResolved ? peer.address : nil }

    /// Whether a link with these addresses would be between the same two devices.
    func areThose(of own: BluetoothAddress?, and peer: BluetoothAddress) -> Bool {
        self.peer.identity.device == peer.device && (own == nil || self.own == nil || own == self.own)
    }
}
