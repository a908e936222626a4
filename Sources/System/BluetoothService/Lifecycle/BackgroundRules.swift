import ServiceMessages

/// The rules for an app's use of Bluetooth in a phase of its life cycle, depending on its declared background modes. A
/// pure value type.
package struct BackgroundRules: Hashable {
    /// How an app's advertisement goes on the air.
    package enum Advertising: String {
        case whole
        /// Without the local name, and with all services in the overflow area (behaviour 7.24).
        case hidden
        case none
    }

    let modes: AppDeclaration.BackgroundModes
    let phase: AppPhase
    /// Whether the app has the privileges of the foreground in the background, by a Live Activity (behaviour 9.17).
    let isPrivileged: Bool

    /// Creates the rules for an app. An unmanaged app behaves as on a Mac, like one with both background modes. In an
    /// iPad app on a Mac the modes have no effect (behaviour 9.19).
    init(_ declaration: AppDeclaration, in phase: AppPhase, isPrivileged: Bool = false) {
        let declared = declaration.kind == .iOSAppOnMac ? [] : declaration.backgroundModes
        modes = declaration.isManaged ? declared : [.central, .peripheral]
        self.phase = phase
        self.isPrivileged = isPrivileged
    }

    private var isInFront: Bool { phase == .foreground || isPrivileged }

    /// Whether a scan continues. In the background it has to name services. A suspended app also needs the central
    /// background mode (behaviours 2.27, 9.3, 9.8), which a Live Activity does not replace (9.17).
    func scans(_ request: ScanRequest) -> Bool {
        switch phase {
        case .foreground: true
        case .background: isInFront || request.namesServices
        case .suspended: modes.contains(.central) && (isInFront || request.namesServices)
        case .notRunning: false
        }
    }

    /// Whether a scan may report a device repeatedly (behaviours 2.27, 9.8).
    var reportsDuplicates: Bool { isInFront }

    /// Whether a new scan starts over instead of reusing what the last one reported (behaviours 2.17, 9.9).
    var restartsScans: Bool { isInFront }

    /// Whether the radio has to listen as often as for a user who waits (behaviour 9.8).
    var isWaitedFor: Bool { isInFront }

    /// See ``Advertising``.
    var advertising: Advertising {
        switch phase {
        case .foreground: .whole
        case .background where isInFront: .whole
        case .background, .suspended: modes.contains(.peripheral) ? (isInFront ? .whole : .hidden) : .none
        case .notRunning: .none
        }
    }

    /// Whether centrals can use the services that the app publishes (behaviour 7.13).
    var serves: Bool { (isInFront && phase != .suspended) || modes.contains(.peripheral) }

    /// Whether events of a manager with this role wake the app (behaviours 9.5, 9.6).
    func wakes(_ role: ManagerRole) -> Bool {
        switch role {
        case .central: modes.contains(.central)
        case .peripheral: modes.contains(.peripheral)
        case .accessorySetup, .activities: false
        }
    }

    /// Whether the system alerts the user to connection events in place of the app, which is suspended and lacks the
    /// background mode that would wake it (behaviour 3.15).
    var showsAlerts: Bool { phase == .suspended && !modes.contains(.central) }
}

extension ScanRequest {
    fileprivate var namesServices: Bool { services?.isEmpty == false || !solicitedServices.isEmpty }
}

extension Event {
    /// Whether the event can wake a suspended app. Returned credits are news only to an app that had none and is called
    /// back for them (behaviours 5.13, 7.43, 9.5, 9.6).
    var isNews: Bool {
        switch self {
        case .central(.peer(_, .writeCreditsReturned)), .central(.peer(_, .maximumWriteLengthChanged)): false
        case .peripheral(.updateCreditsReturned), .peripheral(.centralChanged): false
        case .channel(_, .room): false
        case .stateChanged, .central, .peripheral, .channel, .setup, .activity: true
        }
    }

    /// Whether the event launches an app that is gone. Only results of pending requests do (behaviours 10.4, 10.5).
    var launches: Bool {
        switch self {
        case .central(.discovered), .central(.peer(_, .connected)), .central(.peer(_, .connectionFailed)),
            .central(.peer(_, .disconnected)), .central(.peer(_, .valueNotified)):
            true
        case .peripheral(.readRequested), .peripheral(.writeRequested), .peripheral(.subscribed),
            .peripheral(.unsubscribed), .peripheral(.channelOpened):
            true
        case .stateChanged, .central, .peripheral, .channel, .setup, .activity: false
        }
    }
}
