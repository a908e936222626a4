/// The GAP role of this end of a link.
package enum L2CAPRole: Sendable {
    /// The central, which decides on connection parameters.
    case central
    /// The peripheral, which may request connection parameters.
    case peripheral
}
