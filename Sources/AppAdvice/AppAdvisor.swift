import BluetoothService
import CallSites
import EventLoops
import Foundation
import ServiceMessages

/// The advisor of one app, over all its processes.
struct AppAdvisor: Sendable {
    /// The maximum number of managers that are followed at once.
    static let maximumManagers = 64

    private enum Manager: Sendable {
        case central(CentralAdvisor)
        case peripheral(PeripheralAdvisor)

        var role: ManagerRole { if case .central = self { .central } else { .peripheral } }
    }

    private var managers: [ManagerID: Manager] = [:]
    private var findings: Findings
    private var wakes = LongWakes()
    private var earlyCalls = EarlyCalls()
    private var phase = AppPhase.foreground
    /// When the present process created its first manager.
    private var began: Instant?
    private var history = KnownPeers()
    /// The kinds of which there have been several managers at once.
    private var rivals: Set<ManagerRole> = []
    private let since: Instant

    init(name: String, since: Instant) {
        findings = Findings(app: name)
        self.since = since
    }

    var advice: [Advice] { findings.all.map(completed) }
    var dropped: Int { findings.dropped }

    /// Returns the advice that is new, or has another count, since it was last returned, and is ready.
    mutating func takeChanges(where isReady: (Advice) -> Bool) -> [Advice] {
        findings.takeChanges(where: isReady).map(completed)
    }

    func hasChanges(where condition: (Advice) -> Bool) -> Bool { findings.hasChanges(where: condition) }

    private func completed(_ advice: Advice) -> Advice {
        var advice = advice
        advice.appSince = since - .zero
        advice.hasRivals = advice.manager.map(rivals.contains) ?? true
        return advice
    }

    /// Takes in an event.
    ///
    /// - Returns: The places that new advice is about.
    @discardableResult
    mutating func accept(
        _ content: Observation.Content,
        of id: ManagerID?,
        at now: Instant,
        from site: CallSite? = nil,
        about peer: UUID? = nil
    ) -> [CallSite] {
        observe(content, of: id, at: now, from: site, about: peer)
        return findings.takeNewSites()
    }

    private mutating func observe(
        _ content: Observation.Content,
        of id: ManagerID?,
        at now: Instant,
        from site: CallSite?,
        about peer: UUID?
    ) {
        switch content {
        case .appMoved(let phase): move(to: phase, at: now)
        case .misused(let text, isToldToApp: _):
            findings.prepare(for: nil, at: now)
            findings.site = site
            earlyCalls.accept(text, &findings)
        case .managerOpened(let role): if let id { open(id, role, at: now) }
        default:
            guard let id, let manager = managers[id] else { return }
            if case .told = content { wakes.renew(at: now) }
            accept(content, of: id, manager, at: now, from: site, about: peer)
            if case .managerClosed = content { managers[id] = nil }
        }
    }

    mutating func advance(to now: Instant) {
        // In the order of their creation, so that the same events give the same advice.
        for (id, manager) in managers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            accept(nil, of: id, manager, at: now)
        }
    }

    private mutating func open(_ id: ManagerID, _ role: ManagerRole, at now: Instant) {
        guard managers.count < Self.maximumManagers else { return }
        if began == nil { began = now }
        if managers.values.contains(where: { $0.role == role }) { rivals.insert(role) }
        switch role {
        case .central: managers[id] = .central(CentralAdvisor())
        case .peripheral: managers[id] = .peripheral(PeripheralAdvisor(began: began ?? now))
        }
    }

    private mutating func move(to phase: AppPhase, at now: Instant) {
        findings.prepare(for: nil, at: now)
        wakes.accept(phase, at: now, &findings)
        self.phase = phase
        guard case .notRunning = phase else { return }
        managers = [:]
        began = nil
    }

    /// Passes an event to the manager's detectors, or without one only the time.
    private mutating func accept(
        _ content: Observation.Content?,
        of id: ManagerID,
        _ manager: Manager,
        at now: Instant,
        from site: CallSite? = nil,
        about peer: UUID? = nil
    ) {
        let context = AppContext(now: now, phase: phase, site: site, peer: peer)
        findings.prepare(for: (id, manager.role), at: now)
        switch manager {
        case .central(var advisor):
            // Moved out of the table meanwhile, so that nothing is copied.
            managers[id] = nil
            advisor.accept(content, context, &history, &findings)
            managers[id] = .central(advisor)
        case .peripheral(var advisor):
            managers[id] = nil
            advisor.accept(content, context, &findings)
            managers[id] = .peripheral(advisor)
        }
    }
}
