import BluetoothTypes
import ServiceEvents
import ServiceMessages

/// A probable cause of a failure, in words.
package struct WorldHint: Sendable {
    /// The kinds of causes. Those that explain the most come first.
    package enum Rank: Int, Sendable {
        case blockedQueue
        /// Bluetooth is off, or the app may not use it.
        case state
        /// The app kept no reference. Later misuse follows from that.
        case released
        case misuse
        /// Events for a delegate that is nil.
        case lostEvents
        /// A pairing failed, or a bond is gone.
        case security
        /// A peripheral's app has not responded.
        case unanswered
        /// A request of a central without its answer.
        case awaited
        case failed
        case nothingFound
        /// The app lost data since it did not heed the flow control, or another problem was logged.
        case problem
        case smallMTU
        case link
        /// What is advertised does not fit.
        case unfit
        case scan
        case idle
    }

    let rank: Rank
    package let text: String
    /// The call that the hint is about, if there is one.
    package var site: CallSite?
}

/// Conclusions from the story of a world: what an app has left undone or waits for, in words
/// that name the usual cause.
package struct WorldHints: Sendable {
    /// The number of hints in a report.
    static let maximum = 5
    /// The maximum number of requests without an answer that are remembered for a peer or a manager.
    static let maximumRequests = 1_000
    private static let maximumNoted = 100

    struct Owner: Hashable {
        let device: String
        let app: String
        let manager: UInt32

        var text: String { "\(device): \(app)" }
    }

    /// A cause that an event names by itself.
    private struct Noted {
        var hint: WorldHint
        let since: Duration
        var count = 1
    }

    private var managers: [Owner: ManagerHints] = [:]
    private var order: [Owner] = []
    /// The processes that have ended, by device and app.
    private var ended: Set<[String]> = []
    private var noted: [Noted] = []
    private var surroundings = Surroundings()

    package init() {}

    /// Adds a cause, and returns whether it is a new one.
    @discardableResult
    package mutating func note(
        _ rank: WorldHint.Rank,
        _ text: String,
        at time: Duration,
        from site: CallSite? = nil
    ) -> Bool {
        if let index = noted.firstIndex(where: { $0.hint.text == text }) {
            noted[index].count += 1
            return false
        }
        if noted.count < Self.maximumNoted {
            noted.append(Noted(hint: WorldHint(rank: rank, text: text, site: site), since: time))
        }
        return true
    }

    /// Adds a queue whose last callback does not return, and returns that in words.
    @discardableResult
    package mutating func noteBlocked(_ queue: String, at time: Duration) -> String {
        let text =
            "the last callback on the queue \"\(queue)\" does not return, so the app receives nothing more there: it "
            + "waits for something, perhaps for a callback that would run on the same queue"
        note(.blockedQueue, text, at: time)
        return text
    }

    /// Adds an event of a device. The name is empty for the radio channel.
    package mutating func add(_ event: WorldEvent, of device: String, at time: Duration) {
        switch event {
        case .changed(let text): surroundings.changes[device] = (text, time)
        case .ignored: break
        case .observed(let observation): add(observation, device, at: time)
        }
    }

    private mutating func add(_ observation: Observation, _ device: String, at time: Duration) {
        if case .noticed(let notice) = observation.content { add(notice, device, at: time) }
        guard let app = observation.subject.app?.name else { return }
        if case .appMoved(let phase) = observation.content { move(device, app, to: phase, at: time) }
        guard let manager = observation.subject.manager?.rawValue else { return }
        let owner = Owner(device: device, app: app, manager: manager)
        if managers[owner] == nil { order.append(owner) }
        switch observation.content {
        case .managerOpened(let role): managers[owner] = ManagerHints(role: role, opened: time)
        case .managerClosed:
            managers[owner]?.close(isByApp: !ended.contains([owner.device, owner.app]), at: time)
        case .requested(let request): managers[owner, default: ManagerHints()].add(request, observation, at: time)
        case .delivered(let event):
            managers[owner, default: ManagerHints()].add(event, observation, at: time)
        case .practiced(.noted(.eventWithoutDelegate(let peer))):
            managers[owner]?.central.loseEvent(of: peer, at: time)
        case .practiced(.noted(.managerCreated)): managers[owner]?.site = observation.site
        // The warning of it came right before, without the place.
        case .practiced(.noted(.writeWithoutRoom)):
            guard let index = noted.lastIndex(where: { $0.hint.rank == .problem }) else { break }
            noted[index].hint.site = noted[index].hint.site ?? observation.site
        default: break
        }
        if case .requested(.peripheral(.startAdvertising(let request))) = observation.content {
            surroundings.advertised[request.localName ?? owner.device] = request.services
        }
    }

    private mutating func add(_ notice: SystemNotice, _ device: String, at time: Duration) {
        switch notice {
        case .peerForgotUs, .pairingFailed, .bondNotKept, .bondsUnavailable:
            note(.security, "\(device): \(notice)", at: time)
        default: break
        }
    }

    /// Managers of a process that ends are not released by the app.
    private mutating func move(_ device: String, _ app: String, to phase: AppPhase, at time: Duration) {
        guard case .notRunning = phase else { return _ = ended.remove([device, app]) }
        ended.insert([device, app])
        for owner in order where owner.device == device && owner.app == app { managers[owner]?.endProcess(at: time) }
    }

    // MARK: Words

    /// Returns the most probable causes, the first one in front, at most ``maximum``.
    ///
    /// - Parameter words: The words at the end of the story.
    package func hints(at now: Duration, _ words: WorldWords) -> [WorldHint] {
        let repeated = noted.map { noted in
            let start = WorldWords.time(noted.since)
            let when = noted.count > 1 ? "\(noted.count) times, from \(start) on" : start
            return WorldHint(rank: noted.hint.rank, text: "\(noted.hint.text) (\(when))", site: noted.hint.site)
        }
        let found = order.flatMap { owner in
            managers[owner]?.hints(HintContext(owner: owner, now: now, words: words, surroundings: surroundings)) ?? []
        }
        let all = (repeated + found).enumerated()
        return all.sorted { ($0.element.rank.rawValue, $0.offset) < ($1.element.rank.rawValue, $1.offset) }
            .prefix(Self.maximum).map(\.element)
    }
}

/// What the words of a hint depend on, besides the manager that it is about.
struct HintContext {
    let owner: WorldHints.Owner
    let now: Duration
    let words: WorldWords
    let surroundings: Surroundings
}

/// What happens around apps: what the test does to devices, and what is advertised.
struct Surroundings {
    /// The last change of each device.
    var changes: [String: (text: String, time: Duration)] = [:]
    var advertised: [String: [BluetoothUUID]] = [:]

    /// Returns the last change of a device as the end of a sentence; empty without one.
    func lastChange(of device: String?) -> String {
        guard let device, let change = changes[device], change.time > .zero || !change.text.hasPrefix("is switched on")
        else {
            return ""
        }
        return "; \"\(device)\" \(change.text) at \(WorldWords.time(change.time))"
    }
}
