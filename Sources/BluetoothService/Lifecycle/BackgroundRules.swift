/// What an app may do with Bluetooth where it is in its life, by the modes that it declares. Nothing but values in, and values
/// out.
struct BackgroundRules: Hashable {
    /// How what an app wants to advertise is put on the air.
    enum Advertising: Hashable {
        case whole
        /// Without its name, and with all services in the overflow area (behaviour 7.24).
        case hidden
        case none
    }

    let modes: AppDeclaration.BackgroundModes
    let phase: AppPhase

    private var isInFront: Bool { phase == .foreground }

    /// Whether a scan goes on. In the background it has to name services; an app that does not run, and has not the mode, does
    /// not scan (behaviours 2.27, 9.3, 9.8).
    func scans(_ request: ScanRequest) -> Bool {
        switch phase {
        case .foreground: true
        case .background: request.namesServices
        case .suspended: modes.contains(.central) && request.namesServices
        case .notRunning: false
        }
    }

    /// Whether a scan may report a device again and again (behaviours 2.27, 9.8).
    var reportsDuplicates: Bool { isInFront }

    /// Whether a new scan begins afresh, and not with what the last one knew (behaviours 2.17, 9.9).
    var scansAfresh: Bool { isInFront }

    /// Whether the radio has to listen as often as for a person who waits (behaviour 9.8).
    var isWaitedFor: Bool { isInFront }

    /// See ``Advertising``.
    var advertising: Advertising {
        switch phase {
        case .foreground: .whole
        case .background, .suspended: modes.contains(.peripheral) ? .hidden : .none
        case .notRunning: .none
        }
    }

    /// Whether centrals can use what the app publishes (behaviour 7.13).
    var serves: Bool { isInFront || modes.contains(.peripheral) }

    /// Whether what a manager of this role is told wakes the app (behaviours 9.5, 9.6).
    func wakes(_ role: ManagerRole) -> Bool {
        switch role {
        case .central: modes.contains(.central)
        case .peripheral: modes.contains(.peripheral)
        }
    }

    /// Whether the person is told of what the app asked to be told of itself: in place of an app that sleeps, and has not the mode
    /// by which it would be woken (behaviour 3.15).
    var isAlertedFor: Bool { phase == .suspended && !modes.contains(.central) }
}

extension ScanRequest {
    fileprivate var namesServices: Bool { services?.isEmpty == false || !solicitedServices.isEmpty }
}

extension Event {
    /// Whether an app that sleeps can be woken to hear of it. That there is room again is news only to an app that had none and is called
    /// back for that (behaviours 5.13, 7.43, 9.5, 9.6).
    var isNews: Bool {
        switch self {
        case .central(.peer(_, .writeCreditsReturned)), .central(.peer(_, .maximumWriteLengthChanged)): false
        case .peripheral(.updateCreditsReturned), .peripheral(.centralChanged): false
        case .channel(_, .room): false
        case .stateChanged, .central, .peripheral, .channel: true
        }
    }

    /// Whether an app that is gone is launched to hear of it: only what came about of something that was asked for (behaviours 10.4,
    /// 10.5).
    var launches: Bool {
        switch self {
        case .central(.discovered), .central(.peer(_, .connected)), .central(.peer(_, .connectionFailed)),
            .central(.peer(_, .disconnected)), .central(.peer(_, .valueNotified)):
            true
        case .peripheral(.readRequested), .peripheral(.writeRequested), .peripheral(.subscribed),
            .peripheral(.unsubscribed), .peripheral(.channelOpened):
            true
        case .stateChanged, .central, .peripheral, .channel: false
        }
    }
}
