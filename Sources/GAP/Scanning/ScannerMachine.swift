/// Turns the controller's scanning on and off, one command after the other (Core Vol 4 Part E 7.8.10, 7.8.11).
struct ScannerMachine {
    enum State: Equatable {
        case off
        /// The commands to begin are on their way; `wanted` tells whether it still should.
        case starting(wanted: Bool)
        case scanning
        /// The command to end is on its way; `wanted` tells whether to begin again.
        case stopping(wanted: Bool)
    }

    enum Event {
        /// Somebody wants to hear advertisements, or nobody does.
        case want(Bool)
        case started(success: Bool)
        case stopped
        /// The controller is gone or new: it does not scan.
        case reset
    }

    enum Action: Equatable {
        case start
        case stop
    }

    private(set) var state = State.off

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (_, .reset):
            state = .off
        case (.off, .want(true)):
            state = .starting(wanted: true)
            return [.start]
        case (.starting, .want(let wanted)):
            state = .starting(wanted: wanted)
        case (.starting(let wanted), .started(true)):
            if wanted {
                state = .scanning
            } else {
                state = .stopping(wanted: false)
                return [.stop]
            }
        case (.starting, .started(false)):
            state = .off
        case (.scanning, .want(false)):
            state = .stopping(wanted: false)
            return [.stop]
        case (.stopping, .want(let wanted)):
            state = .stopping(wanted: wanted)
        case (.stopping(let wanted), .stopped):
            state = wanted ? .starting(wanted: true) : .off
            return wanted ? [.start] : []
        case (.off, .want(false)), (.scanning, .want(true)),
            (.off, .started), (.scanning, .started), (.stopping, .started),
            (.off, .stopped), (.starting, .stopped), (.scanning, .stopped):
            break
        }
        return []
    }
}
