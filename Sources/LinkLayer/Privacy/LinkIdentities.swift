import BluetoothTypes

/// Who the two devices of a link are, whatever addresses they have made it with.
struct LinkIdentities: Hashable {
    /// This device for somebody who knows its keys: its public or its random address.
    var own: BluetoothAddress
    /// The private address that this controller has made for itself, if it has.
    var ownPrivate: BluetoothAddress?
    /// The peer.
    var peer: HeardDevice

    /// The peer's private address, if it was resolved.
    var peerPrivate: BluetoothAddress? { peer.isResolved ? peer.address : nil }
}
