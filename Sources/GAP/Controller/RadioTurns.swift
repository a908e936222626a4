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

    private var holder: Role?

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .refused(let role):
            guard holder == nil else { return [] }
            holder = role
            return Role.allCases.filter { $0 != role }.map { .pause($0) } + [.startTimer]
        case .turnOver: return end()
        case .done(let role): return holder == role ? [.endTimer] + end() : []
        case .reset:
            defer { holder = nil }
            return holder == nil ? [] : [.endTimer]
        }
    }

    private mutating func end() -> [Action] {
        guard let role = holder else { return [] }
        holder = nil
        return Role.allCases.filter { $0 != role }.map { .resume($0) }
    }
}
