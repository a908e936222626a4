import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The advisor of one app, over all its processes.
struct AppAdvisor: Sendable {
    static let maximumManagers = 64

    /// A manager with the detectors of its role.
    private struct Manager: Sendable {
        let id: ManagerID
        let role: ManagerRole
        var central: CentralAdvisor?
        var peripheral: PeripheralAdvisor?
    }

    /// The managers in the order of their creation.
    private var managers: [Manager] = []
    private var findings: Findings
    private var wakes = LongWakes()
    private var earlyCalls = EarlyCalls()
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

    /// - Returns: The places that new advice is about.
    @discardableResult
    mutating func accept(
        _ content: Observation.Content,
        of id: ManagerID?,
        at now: Instant,
        from site: CallSite? = nil,
        about peer: UUID? = nil
    ) -> [CallSite] {
        switch content {
        case .appMoved(let phase): move(to: phase, at: now)
        case .liveActivity(let isShown, let isPrivileged): findings.isPrivileged = isShown && isPrivileged
        case .misused(let text, isToldToApp: _):
            findings.prepare(for: nil, at: now)
            findings.site = site
            earlyCalls.accept(text, &findings)
        case .managerOpened(let role): if let id { open(id, role, at: now) }
        default:
            guard let id, let index = index(of: id) else { break }
            if case .delivered = content { wakes.renew(at: now) }
            pass(index, to: now)
            (findings.site, findings.peer) = (site, peer)
            managers[index].central?.accept(content, &history, &findings)
            managers[index].peripheral?.accept(content, &findings)
            if case .managerClosed = content { managers.remove(at: index) }
        }
        return findings.takeNewSites()
    }

    /// Takes in a value that a central manager is notified of.
    mutating func count(_ value: ValueArrival) {
        guard let index = index(of: value.manager) else { return }
        wakes.renew(at: value.time)
        pass(index, to: value.time)
        managers[index].central?.count(value.octets, of: value.handle, value.peer, &findings)
    }

    private func index(of id: ManagerID) -> Int? { managers.firstIndex { $0.id == id } }

    mutating func advance(to now: Instant) {
        for index in managers.indices { pass(index, to: now) }
    }

    /// Lets the time pass for a manager, which later findings are about.
    private mutating func pass(_ index: Int, to now: Instant) {
        findings.prepare(for: (managers[index].id, managers[index].role), at: now)
        managers[index].central?.pass(&findings)
        managers[index].peripheral?.pass(&findings)
    }

    private mutating func open(_ id: ManagerID, _ role: ManagerRole, at now: Instant) {
        // A number that is used again has lost its manager.
        managers.removeAll { $0.id == id }
        guard managers.count < Self.maximumManagers, role.isOfBluetooth else { return }
        // A new process is in the foreground, unless a move was reported.
        if case .notRunning = findings.phase { findings.phase = .foreground }
        if began == nil { began = now }
        if managers.contains(where: { $0.role == role }) { rivals.insert(role) }
        var manager = Manager(id: id, role: role)
        switch role {
        case .central: manager.central = CentralAdvisor()
        case .peripheral: manager.peripheral = PeripheralAdvisor(began: began ?? now)
        case .accessorySetup, .activities: break
        }
        managers.append(manager)
    }

    private mutating func move(to phase: AppPhase, at now: Instant) {
        findings.prepare(for: nil, at: now)
        wakes.accept(phase, at: now, &findings)
        findings.phase = phase
        guard case .notRunning = phase else { return }
        managers = []
        began = nil
    }
}
