/// The legacy and the extended command sets for advertising, scanning and initiating. After the first command of one
/// set, those of the other are disallowed until the next reset (Core Vol 4 Part E 3.1.1).
enum AdvertisingCommandSet {
    /// No command of either set has been used; or a command that belongs to neither.
    case none
    case legacy
    case extended

    /// Whether a command of this set is allowed. If so, the other set is disallowed from now on.
    mutating func admit(_ commands: AdvertisingCommandSet) -> Bool {
        guard commands != .none else { return true }
        if self == .none { self = commands }
        return self == commands
    }
}
