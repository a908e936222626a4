import ServiceMessages
import Testing

@testable import BluetoothService

/// Every event in every phase (behaviours 1.3, 1.4, 1.9 to 1.14).
@Suite struct PowerMachineTests {
    private typealias Phase = PowerMachine.Phase

    /// A machine in the given phase.
    private func machine(in phase: PowerMachine.Phase) -> PowerMachine {
        var machine = PowerMachine()
        switch phase {
        case .idle: break
        case .attached(let isReady, let attempts):
            _ = machine.handle(.start)
            if attempts == 0 { _ = machine.handle(.ready) }
            if !isReady, attempts == 0 { _ = machine.handle(.starting) }
            for _ in 1..<max(attempts, 1) {
                _ = machine.handle(.failed(.reopen))
                _ = machine.handle(.retry)
            }
        case .off(let isAttached):
            if isAttached { _ = machine.handle(.start) }
            _ = machine.handle(.switched(isOn: false))
        case .missing(let attempts):
            machine = self.machine(in: .attached(isReady: false, attempts: attempts - 1))
            _ = machine.handle(.failed(.reopen))
        case .repairing(let attempts):
            machine = self.machine(in: .attached(isReady: false, attempts: attempts))
            _ = machine.handle(.failed(.resetDevice))
        }
        #expect(machine.phase == phase)
        return machine
    }

    @Test(arguments: [
        (Phase.idle, PowerMachine.Event.start, Phase.attached(isReady: false, attempts: 1), [PowerMachine.Action.open]),
        (.idle, .stop, .idle, [.report(.unsupported)]),
        (.idle, .switched(isOn: false), .off(isAttached: false), [.report(.poweredOff)]),
        (.idle, .switched(isOn: true), .idle, []),
        (.idle, .ready, .idle, []),
        (.idle, .starting, .idle, []),
        (.idle, .failed(.reopen), .idle, []),
        (.idle, .noneThere, .idle, []),
        (.idle, .retry, .idle, []),
        (.attached(isReady: false, attempts: 1), .start, .attached(isReady: false, attempts: 1), []),
        (.attached(isReady: false, attempts: 1), .starting, .attached(isReady: false, attempts: 1), []),
        (.attached(isReady: false, attempts: 1), .ready, .attached(isReady: true, attempts: 0), [.report(.poweredOn)]),
        (
            .attached(isReady: false, attempts: 1), .failed(.reopen), .missing(attempts: 2),
            [.discard, .report(.unsupported), .reportFailure, .startTimer(.seconds(1))]
        ),
        (
            .attached(isReady: false, attempts: 1), .noneThere, .missing(attempts: 2),
            [.report(.unsupported), .reportFailure]
        ),
        (
            .attached(isReady: false, attempts: 3), .failed(.reopen), .missing(attempts: 4),
            [.discard, .startTimer(.seconds(4))]
        ),
        (.attached(isReady: false, attempts: 3), .noneThere, .missing(attempts: 4), []),
        (
            .attached(isReady: false, attempts: 9), .failed(.reopen), .missing(attempts: 10),
            [.discard, .startTimer(.seconds(30))]
        ),
        (
            .attached(isReady: false, attempts: 2), .switched(isOn: false), .off(isAttached: true),
            [.stopDevice, .report(.poweredOff)]
        ),
        (
            .attached(isReady: true, attempts: 0), .starting, .attached(isReady: false, attempts: 0),
            [.report(.resetting)]
        ),
        (
            .attached(isReady: true, attempts: 0), .failed(.reopen), .attached(isReady: false, attempts: 1),
            [.discard, .report(.resetting), .open]
        ),
        (
            .attached(isReady: false, attempts: 0), .failed(.reopen), .attached(isReady: false, attempts: 1),
            [.discard, .open]
        ),
        (.attached(isReady: true, attempts: 0), .retry, .attached(isReady: true, attempts: 0), []),
        (.attached(isReady: true, attempts: 0), .switched(isOn: true), .attached(isReady: true, attempts: 0), []),
        (
            .attached(isReady: true, attempts: 0), .stop, .idle,
            [.stopDevice, .discard, .report(.unsupported)]
        ),
        (
            .attached(isReady: true, attempts: 0), .failed(.resetDevice), .repairing(attempts: 1),
            [.report(.resetting), .resetDevice]
        ),
        (.attached(isReady: false, attempts: 1), .failed(.resetDevice), .repairing(attempts: 1), [.resetDevice]),
        (.attached(isReady: false, attempts: 4), .failed(.resetDevice), .repairing(attempts: 4), [.resetDevice]),
        (
            .attached(isReady: true, attempts: 0), .failed(.wait(.seconds(7))), .missing(attempts: 2),
            [.discard, .report(.unsupported), .reportFailure, .startTimer(.seconds(7))]
        ),
        (
            .attached(isReady: false, attempts: 2), .failed(.wait(.seconds(7))), .missing(attempts: 3),
            [.discard, .startTimer(.seconds(7))]
        ),
        (.repairing(attempts: 1), .deviceReset, .attached(isReady: false, attempts: 1), [.open]),
        (
            .repairing(attempts: 1), .failed(.wait(.seconds(1))), .missing(attempts: 2),
            [.report(.unsupported), .reportFailure, .startTimer(.seconds(1))]
        ),
        (.repairing(attempts: 1), .failed(.reopen), .repairing(attempts: 1), []),
        (.repairing(attempts: 1), .retry, .repairing(attempts: 1), []),
        (.repairing(attempts: 1), .switched(isOn: false), .off(isAttached: false), [.report(.poweredOff)]),
        (.repairing(attempts: 1), .stop, .idle, [.report(.unsupported)]),
        (.off(isAttached: false), .deviceReset, .off(isAttached: false), []),
        (.missing(attempts: 3), .deviceReset, .missing(attempts: 3), []),
        (.off(isAttached: true), .switched(isOn: true), .attached(isReady: false, attempts: 0), [.startDevice]),
        (.off(isAttached: true), .ready, .off(isAttached: true), []),
        (.off(isAttached: true), .failed(.reopen), .off(isAttached: true), []),
        (.off(isAttached: true), .retry, .off(isAttached: true), []),
        (.off(isAttached: true), .stop, .idle, [.stopDevice, .discard, .report(.unsupported)]),
        (.off(isAttached: false), .switched(isOn: true), .attached(isReady: false, attempts: 1), [.open]),
        (.off(isAttached: false), .start, .off(isAttached: false), []),
        (.off(isAttached: false), .stop, .idle, [.report(.unsupported)]),
        (.missing(attempts: 3), .retry, .attached(isReady: false, attempts: 3), [.endTimer, .open]),
        (.missing(attempts: 3), .switched(isOn: false), .off(isAttached: false), [.endTimer, .report(.poweredOff)]),
        (.missing(attempts: 3), .start, .missing(attempts: 3), []),
        (.missing(attempts: 3), .stop, .idle, [.endTimer, .report(.unsupported)]),
    ])
    func transitions(
        phase: PowerMachine.Phase,
        event: PowerMachine.Event,
        next: PowerMachine.Phase,
        actions: [PowerMachine.Action]
    ) {
        var machine = machine(in: phase)
        #expect(machine.handle(event) == actions)
        #expect(machine.phase == next)
    }
}
