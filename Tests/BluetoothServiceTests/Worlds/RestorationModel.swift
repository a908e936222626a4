import Foundation
import ServiceMessages

@testable import BluetoothService

/// The preserved state of a device's apps, derived solely from the rules in chapter 10 of Behaviours.md. Of the
/// service's own code it uses only the messages.
struct RestorationModel {
    /// How much of a manager's state is known from outside.
    enum Certainty: Comparable {
        case none
        /// The requests are known, but a connection may have come up or ended unnoticed.
        case requests
        case all
    }

    /// A peripheral that a central manager has a connection request for.
    struct Peer: Equatable {
        /// Nil if unknown from outside.
        var isConnected: Bool? = false
        /// Whether the request may be gone, because a lost link ends it (behaviour 3.1).
        var isOptional = false
        /// Services and characteristics by handle, and the subset that notifies.
        var found: Set<AttributeHandle> = []
        var notifying: Set<AttributeHandle> = []
    }

    /// The state that a manager must be restored with (behaviours 10.8, 10.12).
    enum Manager {
        case central(scan: ScanRequest?, peers: [UUID: Peer])
        case peripheral(
            services: [LocalService],
            subscribers: Set<RestoredSubscription>,
            advertising: AdvertisingRequest?
        )

        var scans: Bool { if case .central(.some, _) = self { true } else { false } }
        var advertises: Bool { if case .peripheral(_, _, .some) = self { true } else { false } }
    }

    struct Kept {
        var manager: Manager
        var certainty: Certainty
        /// Whether the state survives a restart of the system; that of a Mac-style app never does (behaviour 10.22).
        let isRecorded: Bool
        /// Whether links may have ended since.
        var linksMayHaveEnded = false

        var mayScan: Bool { manager.scans || certainty == .none }
        var mayAdvertise: Bool { manager.advertises || certainty == .none }
    }

    let version: SystemVersion
    /// By app; each role has a single manager.
    private(set) var kept: [Int: [ManagerRole: Kept]] = [:]

    init(_ version: SystemVersion) { self.version = version }

    /// Preserves the managers with an identifier when a process ends (behaviours 10.1, 10.15 to 10.18).
    mutating func processEnded(
        _ app: Int,
        _ end: AppEnd,
        _ declaration: AppDeclaration,
        _ managers: [ManagerRole: Kept]
    ) {
        guard keeps(declaration, after: end) else { return kept[app] = nil }
        // State of managers that the process had not recreated is still preserved.
        kept[app, default: [:]].merge(managers) { $1 }
        if kept[app]?.isEmpty == true { kept[app] = nil }
    }

    private func keeps(_ declaration: AppDeclaration, after end: AppEnd) -> Bool {
        switch end {
        case .crashed, .removedFromMemory: true
        case .deviceRestarted: version.major > 10
        case .forceQuit: declaration.usesAccessorySetup && version.major >= 26
        }
    }

    /// The user quits an app that has no process.
    mutating func personEnds(_ app: Int, _ declaration: AppDeclaration) {
        if !keeps(declaration, after: .forceQuit) { kept[app] = nil }
    }

    /// Bluetooth is turned off (behaviours 10.15, 10.16, 10.18).
    mutating func switchedOff(by powerSwitch: PowerSwitch) {
        if powerSwitch == .settings || version.major <= 10 { kept = [:] }
    }

    /// The radio returns for an app, and its requests start over (behaviour 10.15). Links may still exist if the radio
    /// was never off for other apps.
    mutating func radioReturned(for app: Int, forAll: Bool) {
        kept[app] = kept[app]?.mapValues { $0.anew(isConnected: forAll ? false : nil) }
    }

    /// Notes an event that may have ended links.
    mutating func linksMayEnd() {
        for app in kept.keys { for role in kept[app, default: [:]].keys { kept[app]?[role]?.linksMayHaveEnded = true } }
    }

    /// The device or its service has restarted.
    mutating func systemBeganAnew() {
        guard version.major > 10 else { return kept = [:] }
        kept = kept.mapValues { $0.filter(\.value.isRecorded).mapValues { $0.anew(isConnected: false) } }.filter {
            !$0.value.isEmpty
        }
    }

    /// Removes and returns the state preserved for a manager.
    mutating func take(_ app: Int, _ role: ManagerRole) -> Kept? {
        defer { if kept[app]?.isEmpty == true { kept[app] = nil } }
        return kept[app]?.removeValue(forKey: role)
    }

    /// Discards the state of managers that an app has not created in time (behaviour 10.6).
    mutating func giveUp(_ app: Int) { kept[app] = nil }
}

extension RestorationModel.Kept {
    /// After a radio reset there are no connections and no subscribers (behaviours 1.9, 1.13, 5.19).
    fileprivate func anew(isConnected: Bool?) -> Self {
        var new = self
        switch manager {
        case .central(let scan, let peers):
            let wanted = peers.mapValues {
                RestorationModel.Peer(isConnected: isConnected, isOptional: $0.isOptional || linksMayHaveEnded)
            }
            new.manager = .central(scan: scan, peers: wanted)
        case .peripheral(let services, _, let advertising):
            new.manager = .peripheral(services: services, subscribers: [], advertising: advertising)
        }
        return new
    }

    /// Describes what is wrong with a manager's first event.
    func fault(in event: Event?) -> String? {
        switch (manager, event) {
        case (.central(let scan, let peers), .central(.willRestore(let state))):
            return fault(in: state, scan, peers)
        case (.peripheral(let services, let subscribers, let advertising), .peripheral(.willRestore(let state))):
            guard certainty > .none else { return nil }
            if state.services != services { return "restored services \(state.services.map(\.uuid))" }
            if state.advertising != advertising {
                return "restored advertising \(String(describing: state.advertising))"
            }
            guard certainty == .all else { return nil }
            func plain(_ all: some Sequence<RestoredSubscription>) -> Set<[String]> {
                Set(all.map { ["\($0.central.identifier)", "\($0.characteristic.rawValue)"] })
            }
            return plain(state.subscriptions) == plain(subscribers)
                ? nil : "restored subscriptions \(state.subscriptions), not \(subscribers)"
        default: return "nothing was restored, but \(String(describing: event)) told"
        }
    }

    private func fault(in state: RestoredCentral, _ scan: ScanRequest?, _ peers: [UUID: RestorationModel.Peer])
        -> String?
    {
        guard certainty > .none else { return nil }
        if state.scan != scan {
            return "restored scan \(String(describing: state.scan)), not \(String(describing: scan))"
        }
        let names = Set(state.peers.map(\.info.identifier))
        guard certainty == .all else {
            return names.isSubset(of: peers.keys) ? nil : "restored peers that nobody wanted"
        }
        let needed = peers.filter { !$0.value.isOptional }.keys
        if !names.isSubset(of: peers.keys) || !names.isSuperset(of: needed) {
            return "restored peers \(names), not \(peers.keys)"
        }
        return state.peers.lazy.compactMap { fault(in: $0, peers[$0.info.identifier]) }.first
    }

    private func fault(in peer: RestoredPeer, _ wanted: RestorationModel.Peer?) -> String? {
        let characteristics = peer.services.flatMap(\.characteristics)
        let found = peer.services.map(\.service.handle) + characteristics.map(\.characteristic.handle)
        let real = RestorationModel.Peer(
            isConnected: wanted?.isConnected == nil ? nil : peer.maximumWriteWithoutResponse != nil,
            isOptional: wanted?.isOptional ?? false,
            found: Set(found),
            notifying: Set(characteristics.filter(\.isNotifying).map(\.characteristic.handle))
        )
        return real == wanted ? nil : "restored peer \(real), not \(String(describing: wanted))"
    }
}
