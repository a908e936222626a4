import AssignedNumbers
import BluetoothTypes
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The findings of all detectors in one app: an advice for each cause, in the order in which they came up. Detectors
/// also read here the circumstances of the present event.
struct Findings {
    /// The maximum number of causes in an app. Later ones are only counted.
    static let maximum = 256

    /// A cause is a rule with the manager, the peer and the attribute that it is about.
    private struct Cause: Hashable {
        let rule: AdviceRule
        let manager: ManagerID?
        let peer: UUID?
        let attribute: UInt32?
    }

    private(set) var all: [Advice] = []
    /// The number of findings for which there was no room.
    private(set) var dropped = 0
    private let app: String
    /// The indices of advice that is new, or has another count, since it was last taken.
    private var changed: Set<Int> = []
    private var indices: [Cause: Int] = [:]
    private var newSites: [CallSite] = []
    private var manager: (id: ManagerID, role: ManagerRole)?
    private(set) var now = Instant.zero
    var phase = AppPhase.foreground
    /// Whether the app has the privileges of the foreground in the background, by a Live Activity.
    var isPrivileged = false
    /// The place of the present call in the app, if there is a call and its place is known.
    var site: CallSite?
    /// The peer that a sign is about.
    var peer: UUID?

    init(app: String) {
        self.app = app
    }

    /// Whether the rules of the background apply to the app.
    var isHidden: Bool { phase != .foreground && !isPrivileged }

    /// Sets the manager and the time of what detectors add next.
    mutating func prepare(for manager: (id: ManagerID, role: ManagerRole)?, at time: Instant) {
        (self.manager, now, site, peer) = (manager, time, nil, nil)
    }

    /// Returns the advice that is new, or has another count, since it was last returned, and is ready.
    mutating func takeChanges(where isReady: (Advice) -> Bool = { _ in true }) -> [Advice] {
        guard !changed.isEmpty else { return [] }
        let ready = changed.filter { isReady(all[$0]) }
        changed.subtract(ready)
        return ready.sorted().map { all[$0] }
    }

    /// Whether there is such an advice that ``takeChanges(where:)`` has not returned.
    func hasChanges(where condition: (Advice) -> Bool) -> Bool { changed.contains { condition(all[$0]) } }

    /// Returns the places of the advice that is new since the last call.
    mutating func takeNewSites() -> [CallSite] {
        guard !newSites.isEmpty else { return [] }
        defer { newSites = [] }
        return newSites
    }

    /// - Parameters:
    ///   - site: The place of the call that began what is found; by default that of the present call.
    ///   - found: What the app did, in a clause that follows its name; used for the first finding of a cause.
    mutating func add(
        _ rule: AdviceRule,
        peer: UUID? = nil,
        attribute: UInt32? = nil,
        at site: CallSite? = nil,
        _ found: @autoclosure () -> String
    ) {
        let cause = Cause(rule: rule, manager: manager?.id, peer: peer, attribute: attribute)
        if let index = indices[cause] {
            all[index].count += 1
            changed.insert(index)
        } else if all.count < Self.maximum {
            indices[cause] = all.count
            changed.insert(all.count)
            let site = site ?? self.site
            let advice = Advice(
                rule: rule,
                app: app,
                manager: manager?.role,
                peer: peer,
                time: now - .zero,
                found: found(),
                site: site
            )
            if let site { newSites.append(site) }
            all.append(advice)
        } else {
            dropped += 1
        }
    }
}

extension Findings {
    /// Turns what the app's side has noted into advice: 12.20, 12.24, 12.27 and 12.29. `CoreBluetooth` notes it where
    /// it happens, because the service cannot see it.
    ///
    /// 12.24 is noted when the app uses a manager without having read its state in whichever way. 12.29 has no sign in
    /// a world, whose clock stands still while an app's callback runs.
    mutating func add(_ note: AppNote, _ words: (UUID) -> String) {
        switch note {
        case .writeWithoutRoom(let peer):
            add(
                .flowControl,
                peer: peer,
                "wrote to \(words(peer)) without response while there was no room, so that the value was lost"
            )
        case .updateWithoutRoom:
            add(
                .flowControl,
                "called updateValue again after it had returned false, and before "
                    + "peripheralManagerIsReady(toUpdateSubscribers:)"
            )
        case .stateUnread: add(.handleStates, "used a manager whose state it has never read")
        case .restorationIgnored:
            add(.keepRestored, "has a restore identifier, and a delegate without willRestoreState")
        case .slowCallback(let milliseconds):
            add(.shortCallbacks, "took \(milliseconds) ms in a callback, while the next one waited")
        // For the causes of failures. No rule of chapter 12 is about them.
        case .eventWithoutDelegate, .managerCreated: break
        }
    }
}

extension Duration {
    /// The time for a reader: whole seconds, or a decimal below ten.
    var words: String {
        let tenths = (components.seconds * 10) + components.attoseconds / 100_000_000_000_000_000
        guard tenths < 6_000 else { return "\(tenths / 600) min" }
        return tenths < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
    }
}

extension BluetoothUUID {
    /// The name and the number, or the UUID.
    var words: String { AssignedNumbers.title(of: self) }
}

/// Lists what is counted: `1 service`, `3 services`.
func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
