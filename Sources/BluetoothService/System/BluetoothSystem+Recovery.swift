import EventLoops
import HCI
import HCIHost

// Recovery of a controller that fails: the ladder decides, and the power machine acts.

extension BluetoothSystem {
    func recover(_ event: RecoveryLadder.Event) {
        for action in recovery.handle(event) {
            switch action {
            case .take(let remedy): handle(.failed(remedy))
            case .tell(let report): observers.tell(.state, .recovery(report))
            case .advise(let cause): tell(.controllerStaysBroken(cause))
            case .startQuietTime:
                quietTime = loop.schedule(after: RecoveryLadder.quietTime) { [weak self] in
                    self?.quietTime = nil
                    self?.recover(.quiet)
                }
            case .endQuietTime:
                if let quietTime { loop.cancel(quietTime) }
                quietTime = nil
            }
        }
    }

    /// Called when a controller has arrived. If there was none, the ladder starts over, even if no attempt to open one
    /// has noticed that.
    func controllerArrived() {
        if case .missing = power.phase { recover(.absent) }
        handle(.lookAgain)
    }

    /// Cancels all recovery and its timers.
    func endRecovery() {
        for timer in [quietTime, deviceResetTimer].compactMap(\.self) { loop.cancel(timer) }
        (quietTime, deviceResetTimer, resettingLine) = (nil, nil, nil)
    }

    /// Resets the device behind the transport, within ``RecoveryLadder/deviceResetTimeout``.
    func resetDevice() {
        guard let line = attached?.line else { return }
        attached = nil
        deviceResets += 1
        let number = deviceResets
        // Keeps the transport alive until the reset is done.
        resettingLine = line
        deviceResetTimer = loop.schedule(after: RecoveryLadder.deviceResetTimeout) { [weak self] in
            self?.deviceReset(number, .failed(reason: "it timed out"))
        }
        line.resetDevice { [weak self, loop] result in
            // The result may be available at once, while the caller still has actions to perform.
            loop.execute { self?.deviceReset(number, result) }
        }
    }

    private func deviceReset(_ number: UInt64, _ result: DeviceReset) {
        guard resettingLine != nil, number == deviceResets else { return }
        resettingLine = nil
        if let deviceResetTimer { loop.cancel(deviceResetTimer) }
        deviceResetTimer = nil
        if case .failed(let reason) = result { trouble("the reset of the device failed: \(reason)") }
        guard case .mending = power.phase else { return }
        recover(.deviceReset(result))
        handle(.deviceReset)
    }
}
