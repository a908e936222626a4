/// The state of airplane mode, and whether it switches Bluetooth off (behaviour 10.23). Performs no I/O.
struct AirplaneMode: Hashable {
    /// Whether airplane mode can leave Bluetooth alone.
    private let mayLeaveBluetooth: Bool
    private(set) var isOn = false
    /// Whether airplane mode leaves Bluetooth alone, because the user has switched Bluetooth on during airplane mode.
    private(set) var leavesBluetooth = false
    /// Whether airplane mode has switched Bluetooth off.
    private var hasSwitched = false

    /// - Parameter mayLeaveBluetooth: Whether airplane mode can leave Bluetooth alone, as from iOS 11 on.
    init(mayLeaveBluetooth: Bool = true) {
        self.mayLeaveBluetooth = mayLeaveBluetooth
    }

    /// Called when the user switches airplane mode.
    ///
    /// - Parameter hasPower: Whether Bluetooth is switched on.
    /// - Returns: The new setting of the Bluetooth switch, or nil to leave it unchanged.
    mutating func set(_ isOn: Bool, hasPower: Bool) -> Bool? {
        guard isOn != self.isOn else { return nil }
        self.isOn = isOn
        defer { hasSwitched = isOn && hasPower && !leavesBluetooth }
        if isOn { return hasPower && !leavesBluetooth ? false : nil }
        return hasSwitched ? true : nil
    }

    /// Called when the user switches Bluetooth itself. During airplane mode the choice is remembered for the next time.
    mutating func bluetoothSwitched(_ hasPower: Bool) {
        guard isOn else { return }
        (leavesBluetooth, hasSwitched) = (hasPower && mayLeaveBluetooth, false)
    }
}
