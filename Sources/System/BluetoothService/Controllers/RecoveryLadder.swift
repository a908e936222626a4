import HCI
import HCIHost
import ServiceMessages

/// The recovery of a controller that fails, in steps. Each step is for a controller that the previous one did not
/// repair.
///
/// A step has failed if the controller fails again before it has worked for ``quietTime``. After that time the
/// controller counts as healthy, and the next failure starts at the first step. Step 1 is the host's own
/// (``HCIHost/maximumResets``), and the ladder is only notified of it. A missing controller may have been without
/// power, so it also starts at the first step when it returns.
struct RecoveryLadder {
    /// How long a controller has to work before it counts as healthy, here and in the host.
    static let quietTime = HCIHost.resetWindow
    /// How long a device may take to reset, as for loading firmware. A new transport is opened after that in any case.
    static let deviceResetTimeout = Duration.seconds(20)

    enum State: Equatable {
        /// No failure, or none for ``quietTime``.
        case healthy
        /// The step reached so far. The controller does not work, or has worked for less than ``quietTime``. `rounds`
        /// counts how often the last step has been taken.
        case escalated(RecoveryStep, cause: HCIHostError, rounds: Int)
    }

    enum Event: Equatable {
        /// The host resets the controller.
        case reset(HCIHostError)
        /// The host has given the controller up, or the transport has closed.
        case failed(HCIHostError)
        /// The reset of the device has ended or is impossible.
        case deviceReset(DeviceReset)
        /// The controller works, perhaps only for now.
        case ready
        /// The controller has worked for ``quietTime``.
        case quiet
        case absent
    }

    enum Action: Equatable {
        case apply(PowerMachine.Remedy)
        case report(RecoveryReport)
        /// Tells the user what only the user can do.
        case advise(HCIHostError)
        case startQuietTime
        case endQuietTime
    }

    private(set) var state = State.healthy

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.healthy, .reset(let cause)):
            state = .escalated(.reset, cause: cause, rounds: 1)
            return [.endQuietTime, .report(.took(.reset, cause))]
        case (.escalated(let step, _, let rounds), .reset(let cause)):
            state = .escalated(step, cause: cause, rounds: rounds)
            return [.endQuietTime, .report(.took(.reset, cause))]
        // Recovery cannot add a feature that a controller lacks.
        case (_, .failed(.unsupportedController)): return [.apply(.reopen)]
        case (_, .absent): return [.endQuietTime] + leave()
        // The transport led nowhere, so another one is tried.
        case (_, .failed(.transport(.unreachable))): return [.endQuietTime] + leave() + [.apply(.reopen)]
        case (.healthy, .failed(let cause)): return escalate(to: .reopen, cause)
        case (.escalated(let step, _, _), .failed(let cause)): return escalate(to: step.next, cause)
        case (.escalated(.resetDevice, let cause, _), .deviceReset(.impossible)):
            return [.report(.skipped(.resetDevice))] + escalate(to: .powerOff, cause)
        case (.escalated, .ready): return [.startQuietTime]
        case (.escalated(let step, _, _), .quiet):
            state = .healthy
            return [.report(.recovered(after: step))]
        case (_, .deviceReset), (.healthy, .ready), (.healthy, .quiet): return []
        }
    }

    private mutating func escalate(to step: RecoveryStep, _ cause: HCIHostError) -> [Action] {
        let before = if case .escalated(.powerOff, _, let rounds) = state { rounds } else { 0 }
        let rounds = step == .powerOff ? before + 1 : 1
        state = .escalated(step, cause: cause, rounds: rounds)
        let news: [Action] = [.endQuietTime, .report(.took(step, cause))]
        switch step {
        case .reset, .reopen: return news + [.apply(.reopen)]
        case .resetDevice: return news + [.apply(.resetDevice)]
        case .powerOff:
            return news + (rounds == 1 ? [.advise(cause)] : []) + [.apply(.wait(PowerMachine.pause(rounds)))]
        }
    }

    private mutating func leave() -> [Action] {
        defer { state = .healthy }
        return if case .escalated(let step, _, _) = state { [.report(.left(at: step))] } else { [] }
    }
}
