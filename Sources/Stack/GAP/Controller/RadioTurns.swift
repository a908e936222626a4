import HCI
import HCIHost
import Security

/// Assigns the radio in turns if the controller cannot advertise, scan and connect at once, whatever it claims (quirk
/// 9).
///
/// The first user that is refused gets a turn, while the others are paused. After the turn they resume, and the next
/// one that is refused gets the next turn.
struct RadioTurns {
    typealias Role = QuietMachine.User

    enum Event {
        /// The controller refuses, or is known to refuse, this activity in addition to others.
        case refused(Role)
        case turnOver
        /// The user that has the turn has achieved its goal.
        case done(Role)
        /// The controller is gone.
        case reset
    }

    enum Action: Equatable {
        case pause(Role)
        case resume(Role)
        /// Start a timer with ``RadioTurns/turn``.
        case startTimer
        case endTimer
    }

    /// The duration of a turn: enough for a retry, and for an advertiser with an interval of 1.28 s.
    static let turn = Duration.seconds(4)

    private enum State {
        /// All users may try.
        case free
        /// The other users are paused.
        case held(Role)
        /// The user was refused even while the others were paused, so they are not the reason. They have resumed, and
        /// the user gets no turn for this time.
        case barred(Role)
    }

    private var state = State.free

    /// Whether the other users are paused for `role`.
    func isHeld(by role: Role) -> Bool {
        if case .held(let holder) = state { holder == role } else { false }
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.free, .refused(let role)):
            state = .held(role)
            return others(role).map { .pause($0) } + [.startTimer]
        case (.held(let holder), .refused(let role)) where role == holder:
            state = .barred(holder)
            return [.endTimer] + others(holder).map { .resume($0) } + [.startTimer]
        case (.barred(let barred), .refused(let role)) where role != barred:
            state = .held(role)
            return [.endTimer] + others(role).map { .pause($0) } + [.startTimer]
        case (.held(let holder), .turnOver):
            state = .free
            return others(holder).map { .resume($0) }
        case (.barred, .turnOver):
            state = .free
            return []
        case (.held(let holder), .done(let role)) where role == holder:
            state = .free
            return [.endTimer] + others(holder).map { .resume($0) }
        case (.held, .reset), (.barred, .reset):
            state = .free
            return [.endTimer]
        case (.held, .refused), (.barred, .refused), (.free, _), (.held, .done), (.barred, .done): return []
        }
    }

    private func others(_ role: Role) -> [Role] { Role.allCases.filter { $0 != role } }
}

/// A problem of a user of the radio with the controller.
package enum ControllerTrouble {
    /// The controller refused a command that names the given optional PHYs.
    case refused(HCICommandError, uses: LEPHYs)
    /// A scan without a filter receives nothing.
    case silent
    /// The controller is known not to run two activities at once.
    case needsTurn(QuietMachine.User)
}
