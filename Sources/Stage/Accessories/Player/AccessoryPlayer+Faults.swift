import CoreBluetooth

extension AccessoryPlayer {
    /// Begins a fault that the player can play.
    ///
    /// - Parameter fault: The fault.
    /// - Returns: Whether the player can play it.
    @discardableResult
    package func begin(_ fault: DeviceFault) -> Bool {
        switch fault.kind {
        case .lowBattery: setValue([UInt8(fault.value)], of: "2A19")
        case .newFirmware: changeTable()
        case .notificationFlood: flood(fault) { $0.notifyAll() }
        case .parameterFlood: flood(fault) { $0.requestParameters() }
        default: return false
        }
        return true
    }

    /// Ends a flood if it is one.
    package func end(_ fault: DeviceFault) { endFlood(fault.kind) }

    /// Calls `body` many times a second, until the flood ends.
    private func flood(_ fault: DeviceFault, _ body: @escaping @Sendable (AccessoryPlayer) -> Void) {
        continueFlood(fault, number: beginFlood(fault.kind), body)
    }

    private func continueFlood(
        _ fault: DeviceFault,
        number: Int,
        _ body: @escaping @Sendable (AccessoryPlayer) -> Void
    ) {
        later(.microseconds(Int64(1_000_000 / fault.value))) { player in
            guard player.isFlooding(fault.kind, number: number) else { return }
            body(player)
            player.continueFlood(fault, number: number, body)
        }
    }
}
