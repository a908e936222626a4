/// The switch for all radios of a device, and whether Bluetooth goes off with it (behaviour 10.23). No input or output in here.
struct AirplaneMode: Hashable {
    /// Whether it is on.
    private(set) var isOn = false
    /// Whether the person has switched Bluetooth on beside it, so that it leaves Bluetooth alone.
    private(set) var leavesBluetooth = false
    /// Whether it has switched Bluetooth off.
    private var hasSwitched = false

    /// The person uses the switch.
    ///
    /// - Parameter hasPower: Whether Bluetooth is switched on.
    /// - Returns: How Bluetooth is switched with it; nil for not at all.
    mutating func set(_ isOn: Bool, hasPower: Bool) -> Bool? {
        guard isOn != self.isOn else { return nil }
        self.isOn = isOn
        defer { hasSwitched = isOn && hasPower && !leavesBluetooth }
        if isOn { return hasPower && !leavesBluetooth ? false : nil }
        return hasSwitched ? true : nil
    }

    /// The person switches Bluetooth itself. Beside airplane mode that is remembered for the next time.
    mutating func bluetoothWasSwitched(_ hasPower: Bool) {
        guard isOn else { return }
        (leavesBluetooth, hasSwitched) = (hasPower, false)
    }
}
