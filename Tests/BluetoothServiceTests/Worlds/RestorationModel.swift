import Foundation

@testable import BluetoothService

/// What is kept of a device's apps, by the rules as they are written in chapter 10 of Behaviours.md, and by nothing else: of the
/// service's own code only the messages are used.
struct RestorationModel {
    /// How much of what a manager had is known from outside.
    enum Certainty: Comparable {
        /// Nothing.
        case none
        /// What it had asked for: a connection may have come about or ended without its knowledge.
        case wishes
        /// All.
        case all
    }

    /// A peripheral that a central manager wants.
    struct Peer: Equatable {
        /// Nil where it is not known from outside.
        var isConnected: Bool? = false
        /// Whether it may be wanted no more, since a link that ends takes the wish with it (behaviour 3.1).
        var isOptional = false
        /// Services and characteristics by handle, and which of them notify.
        var found: Set<AttributeHandle> = []
        var notifying: Set<AttributeHandle> = []
    }

    /// What a manager is to find (behaviours 10.8, 10.12).
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
        /// Whether it outlives the system too: of an app as on a Mac nothing does (behaviour 10.22).
        let isRecorded: Bool
        /// Whether links may have ended since.
        var linksMayHaveEnded = false

        var mayScan: Bool { manager.scans || certainty == .none }
        var mayAdvertise: Bool { manager.advertises || certainty == .none }
    }

    let version: SystemVersion
    /// By app, and of each role the one manager.
    private(set) var kept: [Int: [ManagerRole: Kept]] = [:]

    init(_ version: SystemVersion) { self.version = version }

    /// A process is gone, with these managers that have an identifier (behaviours 10.1, 10.15 to 10.18).
    mutating func processEnded(
        _ app: Int,
        _ end: AppEnd,
        _ declaration: AppDeclaration,
        _ managers: [ManagerRole: Kept]
    ) {
        guard keeps(declaration, after: end) else { return kept[app] = nil }
        // What it had not made anew by then is still there.
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

    /// The person ends an app that has no process.
    mutating func personEnds(_ app: Int, _ declaration: AppDeclaration) {
        if !keeps(declaration, after: .forceQuit) { kept[app] = nil }
    }

    /// Bluetooth is switched off (behaviours 10.15, 10.16, 10.18).
    mutating func switchedOff(by powerSwitch: PowerSwitch) {
        if powerSwitch == .settings || version.major <= 10 { kept = [:] }
    }

    /// A radio that was gone for an app is back: what it wanted begins anew (behaviour 10.15). One that was there for others all the
    /// time may still have links.
    mutating func radioIsBack(for app: Int, forAll: Bool) {
        kept[app] = kept[app]?.mapValues { $0.anew(isConnected: forAll ? false : nil) }
    }

    /// Something has happened that links may end by.
    mutating func linksMayEnd() {
        for app in kept.keys { for role in kept[app, default: [:]].keys { kept[app]?[role]?.linksMayHaveEnded = true } }
    }

    /// The device, or its service, has begun anew.
    mutating func systemBeganAnew() {
        guard version.major > 10 else { return kept = [:] }
        kept = kept.mapValues { $0.filter(\.value.isRecorded).mapValues { $0.anew(isConnected: false) } }.filter {
            !$0.value.isEmpty
        }
    }

    /// An app takes what is kept for a manager.
    mutating func take(_ app: Int, _ role: ManagerRole) -> Kept? {
        defer { if kept[app]?.isEmpty == true { kept[app] = nil } }
        return kept[app]?.removeValue(forKey: role)
    }

    /// What an app does not make within a while is given up (behaviour 10.6).
    mutating func giveUp(_ app: Int) { kept[app] = nil }
}

extension RestorationModel.Kept {
    /// With a new radio nobody is connected, and nobody has subscribed (behaviours 1.9, 1.13, 5.19).
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

    /// What is wrong with what a manager was told first, in words.
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
