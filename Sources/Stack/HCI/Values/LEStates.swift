import BluetoothTypes

/// The supported link-layer states and combinations of states (Core Vol 4 Part E 7.8.27).
package struct LEStates: WireFlags {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let all = LEStates(rawValue: 0x3FF_FFFF_FFFF)

    /// The names of bits 0 to 41: a state without another one, or a combination of two.
    package static let names: [(flag: LEStates, name: String)] = [
        "non connectable advertising",
        "scannable advertising",
        "connectable advertising",
        "high duty cycle advertising",
        "passive scanning",
        "active scanning",
        "initiating",
        "peripheral",
        "non connectable with passive",
        "scannable with passive",
        "connectable with passive",
        "high duty cycle with passive",
        "non connectable with active",
        "scannable with active",
        "connectable with active",
        "high duty cycle with active",
        "non connectable with initiating",
        "scannable with initiating",
        "non connectable with central",
        "scannable with central",
        "non connectable with peripheral",
        "scannable with peripheral",
        "passive with initiating",
        "active with initiating",
        "passive with central",
        "active with central",
        "passive with peripheral",
        "active with peripheral",
        "initiating with central",
        "low duty cycle advertising",
        "low duty cycle with passive",
        "low duty cycle with active",
        "connectable with initiating",
        "high duty cycle with initiating",
        "low duty cycle with initiating",
        "connectable with central",
        "high duty cycle with central",
        "low duty cycle with central",
        "connectable with peripheral",
        "high duty cycle with peripheral",
        "low duty cycle with peripheral",
        "initiating with peripheral",
    ].enumerated().map { (bit($0), $1) }
}
