import BluetoothTypes

/// The supported link-layer states and combinations of states (Core Vol 4 Part E 7.8.27).
package struct LEStates: WireFlags {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Non-connectable advertising, without another state.
    package static let nonConnectableAdvertising = bit(0)
    /// Scannable advertising, without another state.
    package static let scannableAdvertising = bit(1)
    /// Connectable advertising, without another state.
    package static let connectableAdvertising = bit(2)
    /// High duty cycle directed advertising.
    package static let highDutyCycleAdvertising = bit(3)
    /// Passive scanning, without another state.
    package static let passiveScanning = bit(4)
    /// Active scanning, without another state.
    package static let activeScanning = bit(5)
    /// Initiating, and a connection as central.
    package static let initiating = bit(6)
    /// A connection as peripheral.
    package static let peripheral = bit(7)
    /// Non-connectable advertising and passive scanning.
    package static let nonConnectableWithPassive = bit(8)
    /// Scannable advertising and passive scanning.
    package static let scannableWithPassive = bit(9)
    /// Connectable advertising and passive scanning.
    package static let connectableWithPassive = bit(10)
    /// High duty cycle directed advertising and passive scanning.
    package static let highDutyCycleWithPassive = bit(11)
    /// Non-connectable advertising and active scanning.
    package static let nonConnectableWithActive = bit(12)
    /// Scannable advertising and active scanning.
    package static let scannableWithActive = bit(13)
    /// Connectable advertising and active scanning.
    package static let connectableWithActive = bit(14)
    /// High duty cycle directed advertising and active scanning.
    package static let highDutyCycleWithActive = bit(15)
    /// Non-connectable advertising and initiating.
    package static let nonConnectableWithInitiating = bit(16)
    /// Scannable advertising and initiating.
    package static let scannableWithInitiating = bit(17)
    /// Non-connectable advertising and a connection as central.
    package static let nonConnectableWithCentral = bit(18)
    /// Scannable advertising and a connection as central.
    package static let scannableWithCentral = bit(19)
    /// Non-connectable advertising and a connection as peripheral.
    package static let nonConnectableWithPeripheral = bit(20)
    /// Scannable advertising and a connection as peripheral.
    package static let scannableWithPeripheral = bit(21)
    /// Passive scanning and initiating.
    package static let passiveWithInitiating = bit(22)
    /// Active scanning and initiating.
    package static let activeWithInitiating = bit(23)
    /// Passive scanning and a connection as central.
    package static let passiveWithCentral = bit(24)
    /// Active scanning and a connection as central.
    package static let activeWithCentral = bit(25)
    /// Passive scanning and a connection as peripheral.
    package static let passiveWithPeripheral = bit(26)
    /// Active scanning and a connection as peripheral.
    package static let activeWithPeripheral = bit(27)
    /// Initiating and a connection as central.
    package static let initiatingWithCentral = bit(28)
    /// Low duty cycle directed advertising.
    package static let lowDutyCycleAdvertising = bit(29)
    /// Low duty cycle directed advertising and passive scanning.
    package static let lowDutyCycleWithPassive = bit(30)
    /// Low duty cycle directed advertising and active scanning.
    package static let lowDutyCycleWithActive = bit(31)
    /// Connectable advertising and initiating.
    package static let connectableWithInitiating = bit(32)
    /// High duty cycle directed advertising and initiating.
    package static let highDutyCycleWithInitiating = bit(33)
    /// Low duty cycle directed advertising and initiating.
    package static let lowDutyCycleWithInitiating = bit(34)
    /// Connectable advertising and a connection as central.
    package static let connectableWithCentral = bit(35)
    /// High duty cycle directed advertising and a connection as central.
    package static let highDutyCycleWithCentral = bit(36)
    /// Low duty cycle directed advertising and a connection as central.
    package static let lowDutyCycleWithCentral = bit(37)
    /// Connectable advertising and a connection as peripheral.
    package static let connectableWithPeripheral = bit(38)
    /// High duty cycle directed advertising and a connection as peripheral.
    package static let highDutyCycleWithPeripheral = bit(39)
    /// Low duty cycle directed advertising and a connection as peripheral.
    package static let lowDutyCycleWithPeripheral = bit(40)
    /// Initiating and a connection as peripheral.
    package static let initiatingWithPeripheral = bit(41)

    /// All states and combinations.
    package static let all = LEStates(rawValue: 0x3FF_FFFF_FFFF)

    package static let names: [(flag: LEStates, name: String)] = [
        (.nonConnectableAdvertising, "non connectable advertising"),
        (.scannableAdvertising, "scannable advertising"),
        (.connectableAdvertising, "connectable advertising"),
        (.highDutyCycleAdvertising, "high duty cycle advertising"),
        (.passiveScanning, "passive scanning"),
        (.activeScanning, "active scanning"),
        (.initiating, "initiating"),
        (.peripheral, "peripheral"),
        (.nonConnectableWithPassive, "non connectable with passive"),
        (.scannableWithPassive, "scannable with passive"),
        (.connectableWithPassive, "connectable with passive"),
        (.highDutyCycleWithPassive, "high duty cycle with passive"),
        (.nonConnectableWithActive, "non connectable with active"),
        (.scannableWithActive, "scannable with active"),
        (.connectableWithActive, "connectable with active"),
        (.highDutyCycleWithActive, "high duty cycle with active"),
        (.nonConnectableWithInitiating, "non connectable with initiating"),
        (.scannableWithInitiating, "scannable with initiating"),
        (.nonConnectableWithCentral, "non connectable with central"),
        (.scannableWithCentral, "scannable with central"),
        (.nonConnectableWithPeripheral, "non connectable with peripheral"),
        (.scannableWithPeripheral, "scannable with peripheral"),
        (.passiveWithInitiating, "passive with initiating"),
        (.activeWithInitiating, "active with initiating"),
        (.passiveWithCentral, "passive with central"),
        (.activeWithCentral, "active with central"),
        (.passiveWithPeripheral, "passive with peripheral"),
        (.activeWithPeripheral, "active with peripheral"),
        (.initiatingWithCentral, "initiating with central"),
        (.lowDutyCycleAdvertising, "low duty cycle advertising"),
        (.lowDutyCycleWithPassive, "low duty cycle with passive"),
        (.lowDutyCycleWithActive, "low duty cycle with active"),
        (.connectableWithInitiating, "connectable with initiating"),
        (.highDutyCycleWithInitiating, "high duty cycle with initiating"),
        (.lowDutyCycleWithInitiating, "low duty cycle with initiating"),
        (.connectableWithCentral, "connectable with central"),
        (.highDutyCycleWithCentral, "high duty cycle with central"),
        (.lowDutyCycleWithCentral, "low duty cycle with central"),
        (.connectableWithPeripheral, "connectable with peripheral"),
        (.highDutyCycleWithPeripheral, "high duty cycle with peripheral"),
        (.lowDutyCycleWithPeripheral, "low duty cycle with peripheral"),
        (.initiatingWithPeripheral, "initiating with peripheral"),
    ]
}
