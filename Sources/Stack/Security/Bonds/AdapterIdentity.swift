import BluetoothTypes

/// Identifies the adapter that a store belongs to: by the information that the adapter reports, and by where it is
/// attached, which the host knows independently.
///
/// A manufacturer can choose any address and company for an adapter, including those of another one. Keys are therefore
/// only used with an adapter in the place for which they were stored, unless the user confirms that it replaces the
/// other one (AB-H08). Versions are not compared: they change with the firmware, and users who are asked needlessly
/// soon confirm without thinking.
package struct AdapterIdentity: Hashable, Sendable {
    /// The maximum length of ``place``, in octets.
    package static let maximumPlace = 255
    /// The company of an adapter that reports none.
    package static let unknownCompany: UInt16 = 0xFFFF

    /// The public address; ``BluetoothAddress/none`` if the adapter has none.
    package var address: BluetoothAddress
    /// The manufacturer, as a company identifier assigned by the Bluetooth SIG.
    package var company: UInt16
    /// Where the adapter is attached, truncated to ``maximumPlace`` octets; empty if that is not known.
    package var place: String

    package init(address: BluetoothAddress, company: UInt16 = unknownCompany, place: String = "") {
        self.address = address
        self.company = company
        self.place = place.prefix(octets: Self.maximumPlace)
    }
}

extension AdapterIdentity: CustomStringConvertible {
    package var description: String {
        let name = address == .none ? "an adapter without a public address" : "\(address)"
        let maker = company == Self.unknownCompany ? "" : " (company \(company))"
        return name + maker + (place.isEmpty ? "" : " at \(place)")
    }
}

extension String {
    /// Returns the longest prefix of whole characters that fits into `count` octets of UTF-8.
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
