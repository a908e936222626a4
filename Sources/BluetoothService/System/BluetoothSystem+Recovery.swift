import EventLoops
import HCI
import HCIHost

// What is done about a controller that fails: what the ladder decides, the power machine carries out.

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

    /// There is a controller where there was none, even if nobody has looked there meanwhile.
    func controllerArrived() {
        if case .missing = power.phase { recover(.absent) }
        handle(.lookAgain)
    }

    /// Nothing is done any more.
    func endRecovery() {
        for timer in [quietTime, deviceResetTimer].compactMap(\.self) { loop.cancel(timer) }
        (quietTime, deviceResetTimer, resettingLine) = (nil, nil, nil)
    }

    /// Has the device behind the line reset, for as long as that may take.
    func resetDevice() {
        guard let line = attached?.line else { return }
        attached = nil
        deviceResets += 1
        let number = deviceResets
        // The line lives until it is done.
        resettingLine = line
        deviceResetTimer = loop.schedule(after: RecoveryLadder.deviceResetTimeout) { [weak self] in
            self?.deviceReset(number, .failed(reason: "it takes too long"))
        }
        line.resetDevice { [weak self, loop] result in
            // It may be known at once, and who asked has more to do first.
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
