import ServiceMessages

/// The intent for one manager: what of it is being carried out, what waits for the radio, and what the process of
/// before a service's restart still has to repeat. Performs no I/O.
struct IntentKeeper {
    /// The intent, as far as the app has expressed it to this service.
    private(set) var intent: Intent
    /// Whether the session does not carry out the intent because the radio was off, and will when it is on. For an app
    /// that cannot repeat its requests by itself (behaviour 10.15).
    private(set) var awaitsRadio: Bool
    /// The intent that the process expressed to the previous service. The process is expected to repeat it (behaviour
    /// 1.4), and until it has had time to do so, it outlives the process (behaviour 10.15).
    private var unclaimed: Intent?

    /// - Parameter intent: What a previous system has recorded, or nil for a new manager.
    init(recorded intent: Intent? = nil) {
        self.intent = intent ?? Intent()
        awaitsRadio = intent != nil
    }

    /// The intent that is kept if the process or the service ends now.
    var kept: Intent { unclaimed.map { $0.merged(with: intent) } ?? intent }

    /// Returns the intent that is kept once these requests have been carried out.
    func kept(after requests: [Request]) -> Intent {
        var next = self
        for request in requests { next.apply(request) }
        return next.kept
    }

    mutating func apply(_ request: Request) {
        intent.apply(request)
        if !request.adds { unclaimed?.apply(request) }
    }

    mutating func expect(_ old: Intent) { unclaimed = old }

    mutating func reclaimTimedOut() { unclaimed = nil }

    /// Called when the process has ended. The manager lives on.
    mutating func processEnded(in state: ManagerState) {
        intent = kept
        unclaimed = nil
        awaitsRadio = awaitsRadio || state != .poweredOn
    }

    /// Called when a process has adopted the manager in this state. It repeats what does not survive the state itself.
    mutating func processBegan(in state: ManagerState, _ role: ManagerRole) {
        if awaitsRadio, !role.intentSurvives(state) { drop() }
    }

    /// Called when the session has stopped carrying out the intent because of the radio or the permission.
    mutating func stopped(hasProcess: Bool) {
        if !hasProcess { awaitsRadio = true }
        if !awaitsRadio { intent = Intent() }
    }

    /// Called when a state has been reported.
    ///
    /// - Returns: Whether the session has to carry out the intent now.
    mutating func reported(_ state: ManagerState, _ role: ManagerRole, hasProcess: Bool) -> Bool {
        guard hasProcess else {
            awaitsRadio = awaitsRadio || state != .poweredOn
            return false
        }
        guard awaitsRadio, !role.intentSurvives(state) else { return false }
        guard state == .poweredOn else {
            drop()
            return false
        }
        return true
    }

    mutating func begins() { awaitsRadio = false }

    /// Gives up what waits for the radio.
    mutating func drop() {
        guard awaitsRadio else { return }
        (intent, awaitsRadio) = (Intent(), false)
    }

    /// Called when the app may no longer use Bluetooth (behaviour 1.18, AB-G07).
    mutating func withdrawConnections() {
        intent.withdrawConnections()
        unclaimed?.withdrawConnections()
    }
}

extension ManagerRole {
    /// Whether an intent that waits for the radio survives `state`. All survive the time before the first state, and
    /// what a peripheral manager publishes and advertises also survives power off (behaviours 1.9, 1.13, 1.14).
    fileprivate func intentSurvives(_ state: ManagerState) -> Bool {
        state == .unknown || (self == .peripheral && state == .poweredOff)
    }
}

extension Request {
    /// Whether the request adds to the intent, or replaces a part of it. Any other only withdraws.
    fileprivate var adds: Bool {
        switch self {
        case .central(.startScan), .central(.peer(_, .connect)): true
        case .peripheral(.addService), .peripheral(.startAdvertising): true
        case .central, .peripheral, .channel, .setup, .activity: false
        }
    }
}
