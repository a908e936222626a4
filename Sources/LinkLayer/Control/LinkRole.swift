/// The role of this device in a connection (Core Vol 6 Part B 4.5).
enum LinkRole: Hashable {
    /// The device that initiated the connection, and that determines its timing.
    case central
    /// The device that advertised.
    case peripheral
}
