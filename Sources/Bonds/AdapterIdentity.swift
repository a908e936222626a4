import BluetoothTypes

/// Which adapter a store belongs to. Keys are not given to an adapter that only says that it is the same (AB-H08).
public struct AdapterIdentity: Hashable, Sendable {
    /// Most octets of ``details``.
    public static let maximumDetails = 255

    /// Its public address; ``BluetoothAddress/none`` for an adapter that has none.
    public var address: BluetoothAddress
    /// What else tells it from another one with this address, such as its manufacturer and where it is attached.
    /// Compared as a whole; at most ``maximumDetails`` octets count.
    public var details: String

    /// The given values.
    public init(address: BluetoothAddress, details: String = "") {
        self.address = address
        self.details = details.prefix(octets: Self.maximumDetails)
    }
}

extension AdapterIdentity: CustomStringConvertible {
    /// The address and the details.
    public var description: String {
        let name = address == .none ? "an adapter without a public address" : "\(address)"
        return details.isEmpty ? name : "\(name) (\(details))"
    }
}

extension String {
    /// As many whole characters from the front as fit into `count` octets.
    func prefix(octets count: Int) -> String {
        guard utf8.count > count else { return self }
        var room = count
        return String(
            prefix { character in
                room -= character.utf8.count
                return room >= 0
            }
        )
    }
}
