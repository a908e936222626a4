import BluetoothTypes

/// A peer's attributes: for display, and as objects by the handles of their values.
struct AttributeTable<Characteristic: Sendable>: Sendable {
    var listing: AttributeListing
    var characteristics: [UInt16: Characteristic] = [:]

    /// Returns the first characteristic with this UUID.
    func characteristic(_ uuid: BluetoothUUID) -> Characteristic? {
        listing.services.flatMap(\.characteristics).first { $0.uuid == uuid }.flatMap { characteristics[$0.handle] }
    }
}
