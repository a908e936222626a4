import BluetoothTypes

/// Which adapter a store belongs to: what it says of itself, and where it is attached, which the host knows without it.
///
/// Whoever makes an adapter chooses its address and its company, and copies those of another one. So keys are given to an
/// adapter only where they were kept for one, unless a person says that it takes the other's place (AB-H08). Versions do not
/// count: new firmware has another one, and a question that is asked for nothing is soon answered without thought.
package struct AdapterIdentity: Hashable, Sendable {
    /// Most octets of ``place``.
    package static let maximumPlace = 255
    /// The company of an adapter that tells none.
    package static let unknownCompany: UInt16 = 0xFFFF

    /// Its public address; ``BluetoothAddress/none`` for an adapter that has none.
    package var address: BluetoothAddress
    /// Who made it, by the number that the Bluetooth SIG gave.
    package var company: UInt16
    /// Where it is attached; at most ``maximumPlace`` octets count. Empty where nobody knows.
    package var place: String

    /// The given values.
    package init(address: BluetoothAddress, company: UInt16 = unknownCompany, place: String = "") {
        self.address = address
        self.company = company
        self.place = place.prefix(octets: Self.maximumPlace)
    }
}

extension AdapterIdentity: CustomStringConvertible {
    /// What it says of itself, and where it is.
    package var description: String {
        let name = address == .none ? "an adapter without a public address" : "\(address)"
        let maker = company == Self.unknownCompany ? "" : " (company \(company))"
        return name + maker + (place.isEmpty ? "" : " at \(place)")
    }
}

extension String {
    /// As many whole characters from the front as fit into `count` octets.
    func prefix(octets count: Int) -> String {
        var room = count
        return String(
            prefix { character in
                room -= character.utf8.count
                return room >= 0
            }
        )
    }
}
