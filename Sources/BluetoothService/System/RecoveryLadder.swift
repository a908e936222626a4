import HCI
import HCIHost

/// What is done about a controller that fails, step by step: each is for one that the step below did not mend.
///
/// A step has not helped when the controller fails again before it has worked for ``quietTime``. After that time it is well, and a
/// failure begins at the bottom. Step 1 is the host's own (``HCIHost/maximumResets``); the ladder hears of it. A controller that is
/// not there has been without power, as far as anybody can know: it too begins at the bottom when it comes.
struct RecoveryLadder {
    /// How long a controller works before it is taken for well, here and by the host.
    static let quietTime = HCIHost.resetWindow
    /// How long the reset of a device may take: a driver may load its firmware then. After that a new line is opened in any case.
    static let deviceResetTimeout = Duration.seconds(20)
    /// How long after the last step a line is opened again at first, and each time twice as long until ``longestPause``.
    static let firstPause = Duration.seconds(1)
    /// See ``firstPause``.
    static let longestPause = Duration.seconds(30)

    enum State: Equatable {
        /// Nothing has failed, or not for long.
        case well
        /// So far it was climbed, and the controller does not work, or has for less than ``quietTime``. `rounds` counts how often
        /// the last step has been tried.
        case climbed(RecoveryStep, cause: HCIHostError, rounds: Int)
    }

    enum Event: Equatable {
        /// The host resets the controller.
        case reset(HCIHostError)
        /// The host has given the controller up, or the line has ended.
        case failed(HCIHostError)
        /// The device has been reset, or could not be.
        case deviceReset(DeviceReset)
        /// The controller works.
        case ready
        /// It has worked for ``quietTime``.
        case quiet
        /// There is none.
        case absent
    }

    enum Action: Equatable {
        /// What is to be done.
        case take(PowerMachine.Remedy)
        case tell(RecoveryReport)
        /// Tells the person what only a person can do.
        case advise(HCIHostError)
        case startQuietTime
        case endQuietTime
    }

    private(set) var state = State.well

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.well, .reset(let cause)):
            state = .climbed(.reset, cause: cause, rounds: 1)
            return [.endQuietTime, .tell(.took(.reset, cause))]
        case (.climbed(let step, _, let rounds), .reset(let cause)):
            state = .climbed(step, cause: cause, rounds: rounds)
            return [.endQuietTime, .tell(.took(.reset, cause))]
        // Nothing that can be done here gives a controller what it lacks.
        case (_, .failed(.unsupportedController)): return [.take(.reopen)]
        case (_, .failed(.transport(.unreachable))), (_, .absent): return [.endQuietTime] + leave() + away(event)
        case (.well, .failed(let cause)): return climb(to: .reopen, cause)
        case (.climbed(let step, _, _), .failed(let cause)): return climb(to: step.next, cause)
        case (.climbed(.resetDevice, let cause, _), .deviceReset(.impossible)):
            return [.tell(.skipped(.resetDevice))] + climb(to: .powerOff, cause)
        case (.climbed, .ready): return [.startQuietTime]
        case (.climbed(let step, _, _), .quiet):
            state = .well
            return [.tell(.recovered(after: step))]
        case (_, .deviceReset), (.well, .ready), (.well, .quiet): return []
        }
    }

    private mutating func climb(to step: RecoveryStep, _ cause: HCIHostError) -> [Action] {
        let before = if case .climbed(.powerOff, _, let rounds) = state { rounds } else { 0 }
        let rounds = step == .powerOff ? before + 1 : 1
        state = .climbed(step, cause: cause, rounds: rounds)
        let news: [Action] = [.endQuietTime, .tell(.took(step, cause))]
        switch step {
        case .reset, .reopen: return news + [.take(.reopen)]
        case .resetDevice: return news + [.take(.resetDevice)]
        case .powerOff: return news + (rounds == 1 ? [.advise(cause)] : []) + [.take(.wait(Self.pause(rounds)))]
        }
    }

    /// The longest pause is reached by the sixth round.
    private static func pause(_ rounds: Int) -> Duration {
        (1..<min(max(rounds, 1), 6)).reduce(firstPause) { pause, _ in min(pause * 2, longestPause) }
    }

    private mutating func leave() -> [Action] {
        defer { state = .well }
        return if case .climbed(let step, _, _) = state { [.tell(.left(at: step))] } else { [] }
    }

    /// Where there was a line that led nowhere, another one is tried; that there is none at all is known.
    private func away(_ event: Event) -> [Action] {
        event == .absent ? [] : [.take(.reopen)]
    }
}
