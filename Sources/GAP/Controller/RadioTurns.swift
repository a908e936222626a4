/// Who has the radio where the controller cannot advertise, scan and connect at once, though it may say so (quirk 9). Whoever is
/// refused has the next turn, and the others rest meanwhile; when it is over they may try, and whoever is refused then has the
/// next one.
struct RadioTurns {
    enum Role: CaseIterable {
        case advertiser
        case scanner
        case connector
    }

    enum Event {
        /// The controller would not, or will not, do this besides what others do.
        case refused(Role)
        case turnOver
        /// Whoever has the turn has what it wanted.
        case done(Role)
        /// There is no controller.
        case reset
    }

    enum Action: Equatable {
        case pause(Role)
        case resume(Role)
        /// Begins to count ``RadioTurns/turn``.
        case startTimer
        case endTimer
    }

    /// How long a turn is: long enough for a retry, and for an advertiser that shows itself every 1.28 s.
    static let turn = Duration.seconds(4)

    private enum State {
        /// Everybody tries.
        case free
        /// The others rest.
        case held(Role)
        /// Even alone it was refused, so that it was not for the others: they go on, and have that long before it has a turn again.
        case barred(Role)
    }

    private var state = State.free

    /// Whether the others rest for it.
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
