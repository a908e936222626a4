import Testing

@testable import BluetoothService

/// The state machine of airplane mode.
@Suite struct AirplaneModeTests {
    @Test("behaviour 10.23: airplane mode turns Bluetooth off, and on again afterwards")
    func itTakesBluetoothWithIt() {
        var mode = AirplaneMode()
        let steps = [mode.set(true, hasPower: true), mode.set(true, hasPower: false), mode.set(false, hasPower: false)]
        #expect(steps == [false, nil, true])
        let off = [mode.set(true, hasPower: false), mode.set(false, hasPower: false)]
        #expect(off == [nil, nil])
    }

    @Test("behaviour 10.23: a change to Bluetooth during airplane mode is remembered")
    func changesDuringAirplaneModeAreRemembered() {
        var mode = AirplaneMode()
        mode.bluetoothSwitched(true)
        #expect(!mode.leavesBluetooth)
        _ = mode.set(true, hasPower: true)
        mode.bluetoothSwitched(true)
        let kept = [mode.set(false, hasPower: true), mode.set(true, hasPower: true)]
        #expect(kept == [nil, nil])
        #expect(mode.leavesBluetooth)
        mode.bluetoothSwitched(false)
        let gone = [mode.set(false, hasPower: false), mode.set(true, hasPower: true)]
        #expect(gone == [nil, false])
    }
}
