import BluetoothTypes
import EventLoops
import Foundation
import GAP
import ServiceMessages

/// One central manager of an app: its scan and the peripherals it connects to.
final class CentralSession: LinkUser {
    private enum Use {
        /// The delay that the app asked for has not elapsed (behaviour 3.16).
        case delayed(ScheduledTask)
        case connecting
        case connected(PeerLink, Attachment)
    }

    private let key: ManagerKey
    let manager: AppManager
    private unowned let links: SharedLinks
    private unowned let sharedScan: SharedScan
    private let loop: any EventLoop
    private let peers: Peers
    private var scan: ScanSubscription?
    /// The previous scan. A new scan that continues it does not report the same devices again (behaviour 2.17).
    private var lastScan: ScanSubscription?
    private var presenceTimer: ScheduledTask?
    private var uses: [UUID: Use] = [:]
    private var watch: ConnectionWatch?
    /// The peripherals lost last without a request of the app. Requests to them may have crossed the event.
    private var lost: [UUID] = []
    /// The maximum number of peripherals in ``lost`` (AB-G05).
    private static let maximumLost = 16

    init(_ key: ManagerKey, of manager: AppManager, _ links: SharedLinks, _ sharedScan: SharedScan) {
        self.key = key
        self.manager = manager
        self.links = links
        self.sharedScan = sharedScan
        (loop, peers) = (links.loop, links.peers)
    }

    // Not stored: each manager would have a copy.
    private var configuration: SystemConfiguration { links.configuration }

    private func emit(_ event: CentralEvent) {
        manager.deliver(.central(event), on: loop)
    }

    private func emit(_ event: PeerEvent, of peer: UUID) {
        emit(.peer(peer, event))
    }

    var holdings: Holdings {
        Holdings(scans: scan == nil ? 0 : 1, peers: uses.count, channels: manager.channels.count)
    }

    /// Scans and connections end with the power. The app is notified of the state only (behaviours 1.9, 1.11, 1.12).
    func stateChanged(to state: ManagerState) {
        if state != .poweredOn {
            for peer in peersInUse { noteLoss(of: peer) }
            dropAll()
            manager.stopIntent()
            // The app has lost access to a radio that other apps still use (behaviour 1.18).
            if sharedScan.isPoweredOn { sharedScan.changed() }
        }
        if manager.report(state, on: loop) { carryOutIntent() }
    }

    func carryOutIntent() {
        manager.beginIntent()
        if let scan = manager.intent.scan { startScan(scan) }
        for peer in manager.intent.peers {
            if let options = manager.intent.connections[peer] { connect(peer, options) }
        }
    }

    /// Does nothing: scans consult the rules when they need them.
    func rulesChanged() {}

    func close() {
        dropAll()
        sharedScan.changed()
    }

    private func dropAll() {
        setScan(nil)
        lastScan = nil
        for peer in peersInUse { drop(peer) }
    }

    // MARK: Requests

    func handle(_ request: Request) {
        guard case .central(let request) = request else {
            return manager.misuse("a central manager does not support \(request.name)")
        }
        guard state == .poweredOn else {
            // Behaviours 1.6 and 1.15.
            guard !manager.hasBeenPoweredOn else { return }
            return manager.misuse("\(request.name) is only accepted while the manager is powered on")
        }
        switch request {
        case .startScan(let request): startScan(request)
        case .stopScan:
            manager.apply(.central(.stopScan))
            setScan(nil)
            sharedScan.changed()
        case .resetScanFilter: scan?.forgetReported()
        case .peer(let peer, let request): perform(request, of: peer)
        case .watchConnections(let new):
            // Behaviour 3.22.
            if let error = configuration.version.error(lacking: .connectionEvents) {
                return manager.misuse("\(request.name) has no effect: \(error.reason ?? "")")
            }
            watch = new
        }
    }

    private func perform(_ request: PeerRequest, of peer: UUID) {
        switch request {
        case .connect(let options): connect(peer, options)
        case .cancelConnection: cancel(peer)
        case .forget: forget(peer)
        case .link(let request): ask(request, number: 0, of: peer)
        case .ask(let number, let request): ask(request, number: number, of: peer)
        }
    }

    private func ask(_ request: LinkRequest, number: UInt32, of peer: UUID) {
        // Behaviour 1.7.
        guard case .connected(let link, let user) = uses[peer] else {
            // The app may not have read the disconnection yet, for example when it is restored to the state before it
            // (behaviour 10.7). The disconnection answers the request.
            guard !lost.contains(peer) else { return }
            return manager.misuse("\(request.name) requires a connected peripheral, and \(peer) is not connected")
        }
        link.perform(request, for: Asker(user: user, number: number), in: manager.channels)
    }

    // MARK: Alerts

    /// Whether to show the user an alert about `peer` in place of notifying the app.
    func wants(_ alert: AppAlert, of peer: UUID) -> Bool {
        guard manager.lifecycle.rules.showsAlerts, let options = manager.intent.connections[peer], options.wants(alert)
        else { return false }
        switch uses[peer] {
        case .connecting: return alert == .connected
        case .connected: return alert != .connected
        case .delayed, nil: return false
        }
    }

    func answer(_ query: Query) -> Result<Reply, ServiceError> {
        guard !manager.isBarred else { return query.withoutPeers }
        // Behaviour 1.8.
        let isOn = state == .poweredOn || configuration.version.has(.retrievalWithoutPower)
        switch query {
        case .peripherals(let identifiers):
            let found = isOn ? identifiers.filter(manager.reaches).compactMap { peers.recall($0)?.info } : []
            return .success(.peripherals(found))
        // An empty list matches no peripheral (behaviour 11.7).
        case .connectedPeripherals(let services):
            let found = isOn ? links.all.filter { !$0.attributes.services.isDisjoint(with: services) } : []
            let reached = found.map(\.peer).filter(manager.reaches)
            return .success(.connectedPeripherals(reached.compactMap { peers[$0]?.info }))
        case .names(let peer): return .success(.names(manager.reaches(peer) ? peers.names(of: peer) : KnownNames()))
        case .scanCounts: return .success(.scanCounts(scan?.counts))
        case .system:
            return .failure(ServiceError(.invalidParameters, reason: "this query does not belong to a manager"))
        }
    }
}

// MARK: - Scanning

extension CentralSession {
    /// Whether a scan of the manager is going on.
    var scans: Bool { scan.map { manager.lifecycle.rules.scans($0.request) } ?? false }

    var isWaitedFor: Bool { manager.lifecycle.rules.isWaitedFor }

    /// Starts a scan in place of the current one. Starting the same scan again has no effect (behaviour 2.6).
    private func startScan(_ request: ScanRequest) {
        guard scan?.request != request else { return }
        if scan == nil, let refusal = links.managers.refusal("scans", ServiceLimits.scans, \.scans, for: manager) {
            manager.apply(.central(.stopScan))
            return manager.misuse("the scan was not started: \(refusal.reason ?? "")")
        }
        manager.apply(.central(.startScan(request)))
        let old = scan ?? lastScan
        setScan(ScanSubscription(request, after: manager.lifecycle.rules.restartsScans ? nil : old))
        sharedScan.changed()
    }

    private func setScan(_ new: ScanSubscription?) {
        lastScan = scan ?? lastScan
        scan = new
        if let presenceTimer = presenceTimer.take() { loop.cancel(presenceTimer) }
    }

    /// Schedules the next report of devices that have been silent for too long.
    private func watchPresence() {
        guard presenceTimer == nil, let deadline = scan?.presence?.deadline else { return }
        presenceTimer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            presenceTimer = nil
            for peer in scan?.takeLost(at: loop.now) ?? [] {
                emit(.lost(peers[peer]?.info ?? PeerInfo(identifier: peer)))
            }
            watchPresence()
        }
    }

    func receive(_ heard: ReceivedAdvertisement, from peer: Peer) {
        guard scans, manager.reaches(peer.identifier) else { return }
        let repeats = manager.lifecycle.rules.reportsDuplicates
        let news = scan?.report(heard, of: peer.identifier, at: loop.now, repeats: repeats)
        watchPresence()
        guard var advertisement = news else { return }
        advertisement.timestamp = configuration.calendarTime(at: loop.now)
        if sharedScan.joinsManufacturerData {
            advertisement.manufacturerData = heard.sighting.data.joinedManufacturerData
        }
        emit(.discovered(peer.info, advertisement, rssi: heard.sighting.rssi))
    }
}

// MARK: - Connecting

extension CentralSession {
    func wants(_ peer: UUID) -> Bool {
        if case .connecting = uses[peer] { true } else { false }
    }

    /// Starts connecting to `peer`. A second request for the same peer has no effect (behaviour 3.3).
    private func connect(_ peer: UUID, _ options: ConnectOptions) {
        guard uses[peer] == nil else { return }
        guard manager.reaches(peer), peers.recall(peer) != nil else {
            let error = ServiceError(.unknownDevice, reason: "no known peripheral has the identifier \(peer)")
            return fail(peer, error)
        }
        guard uses.count < ServiceLimits.peersOfManager else {
            let reason = "a manager can connect to at most \(ServiceLimits.peersOfManager) peripherals"
            return fail(peer, ServiceError(.connectionLimitReached, reason: reason))
        }
        if let refusal = links.managers.refusal("connections", ServiceLimits.peers, \.peers, for: manager) {
            return fail(peer, ServiceError(.connectionLimitReached, reason: refusal.reason))
        }
        manager.apply(.central(.peer(peer, .connect(options))))
        peers.hold(peer)
        guard options.startDelay > 0 else { return begin(peer) }
        let delay = Duration.seconds(min(options.startDelay, Int(Int32.max)))
        uses[peer] = .delayed(
            loop.schedule(after: delay) { [weak self] in
                self?.begin(peer)
            }
        )
    }

    private func fail(_ peer: UUID, _ error: ServiceError) {
        withdraw(peer)
        emit(.connectionFailed(error), of: peer)
    }

    private func withdraw(_ peer: UUID) { manager.apply(.central(.peer(peer, .cancelConnection))) }

    private func begin(_ peer: UUID) {
        uses[peer] = .connecting
        links.connectionWanted(to: peer)
    }

    /// Returns the manager's use of a link that is ready, or nil if the manager does not wait for a connection to the
    /// peer. The manager is connected from then on.
    func use(of link: PeerLink) -> Attachment? {
        let peer = link.peer
        guard wants(peer), peers[peer] != nil else { return nil }
        let needsANCS =
            manager.intent.connections[peer]?.requiresNotifications == true
            && configuration.version.has(.notificationSharing)
        let use = Attachment(key, manager, of: peer, loop: loop, requiresNotifications: needsANCS)
        uses[peer] = .connected(link, use)
        return use
    }

    /// Called when an attempt to connect to `peer` has failed, whichever manager requested it.
    func connectionFailed(to peer: UUID, _ error: ServiceError) {
        guard wants(peer) else { return }
        end(peer)
        fail(peer, error)
    }

    /// Reports a change of any link, used or not, if the app watches the peer or one of its services (behaviour 3.22).
    func linkChanged(of link: PeerLink, _ change: ConnectionChange) {
        guard let watch, watch.wants(change, of: link.peer, with: link.attributes.services) else { return }
        guard state == .poweredOn, manager.reaches(link.peer), let info = peers[link.peer]?.info else { return }
        emit(.connectionChanged(info, isConnected: change != .disconnected))
    }

    /// Called when the link ended without a request of the manager. An attachment newer than `user` is not affected.
    func linkClosed(_ link: PeerLink, _ user: Attachment, _ error: ServiceError) {
        let peer = link.peer
        guard case .connected(_, let current) = uses[peer], current === user else { return }
        noteLoss(of: peer)
        let isReconnecting =
            manager.intent.connections[peer]?.reconnectsAutomatically == true
            && configuration.version.has(.automaticReconnection)
        if isReconnecting {
            uses[peer] = .connecting
        } else {
            end(peer)
            withdraw(peer)
        }
        let event = PeerEvent.disconnected(
            error,
            isReconnecting: isReconnecting,
            timestamp: configuration.calendarTime(at: loop.now)
        )
        emit(event, of: peer)
        if isReconnecting { links.connectionWanted(to: peer) }
    }

    private func noteLoss(of peer: UUID) {
        guard case .connected = uses[peer] else { return }
        lost.removeAll { $0 == peer }
        lost.append(peer)
        if lost.count > Self.maximumLost { lost.removeFirst() }
    }

    /// Cancels a connection. The disconnection is always reported, at once and without an error (behaviours 3.6, 3.7).
    private func cancel(_ peer: UUID) {
        withdraw(peer)
        guard uses[peer] != nil else {
            guard !lost.contains(peer) else { return }
            return manager.misuse("there is no connection to cancel to \(peer)")
        }
        drop(peer)
        emit(
            .disconnected(nil, isReconnecting: false, timestamp: configuration.calendarTime(at: loop.now)),
            of: peer
        )
    }

    /// Cancels the connection to `peer` after the app has released its last reference to it (behaviour 3.5).
    private func forget(_ peer: UUID) {
        withdraw(peer)
        guard uses[peer] != nil else { return }
        manager.misuse("the connection to \(peer) was cancelled because the app did not keep a reference to it")
        drop(peer)
    }

    /// Called when the app has lost an accessory. Its connection ends (behaviour 16.7).
    func loseAccessory(_ peer: UUID) {
        guard manager.isLimited else { return }
        withdraw(peer)
        guard uses[peer] != nil else { return }
        drop(peer)
        let error = ServiceError(.peripheralDisconnected, reason: "the accessory was removed from the app")
        let timestamp = configuration.calendarTime(at: loop.now)
        emit(.disconnected(error, isReconnecting: false, timestamp: timestamp), of: peer)
    }

    private func drop(_ peer: UUID) {
        let use = uses[peer]
        end(peer)
        switch use {
        case .delayed(let task): loop.cancel(task)
        case .connecting: links.connectionUnwanted(to: peer)
        case .connected(let link, let user):
            // Other managers may stay on the link.
            manager.channels.disconnect(from: peer)
            link.detach(user)
        case nil: break
        }
    }

    private func end(_ peer: UUID) {
        guard uses.removeValue(forKey: peer) != nil else { return }
        peers.release(peer)
        guard !manager.lifecycle.rules.restartsScans else { return }
        // After a connection has ended, a scan reports the peer once more (behaviour 2.17).
        scan?.forget(peer)
        lastScan?.forget(peer)
    }
}

// MARK: - Restoration

extension CentralSession {
    /// See ``ManagerSession/stateToRestore()``.
    func stateToRestore() -> Event {
        // The next process registers for connections of other apps itself.
        watch = nil
        let peers = restoredPeers(room: ServiceLimits.restoredServiceOctets)
        return .central(.willRestore(RestoredCentral(scan: manager.intent.scan, peers: peers)))
    }

    /// Returns the peripherals that the app wants to be connected to, for another process of it. The state has to fit
    /// in one message: once `room` octets are used up, peripherals are listed without their services.
    func restoredPeers(room: Int) -> [RestoredPeer] {
        var room = room
        return manager.intent.peers.compactMap { peer -> RestoredPeer? in
            guard let info = peers.recall(peer)?.info else { return nil }
            guard let (link, user) = renewUse(of: peer) else { return RestoredPeer(info: info) }
            var restored = link.restored(for: user, info)
            let octets = restored.encoded().count
            if octets > room { restored.services = [] } else { room -= octets }
            return restored
        }
    }

    /// Called when a link is about to end. Keeps the state of the link, which is restored if the process ends before it
    /// has processed the disconnection.
    func linkEnds(_ link: PeerLink, _ user: Attachment) {
        guard manager.options.restoreIdentifier != nil, let info = peers[link.peer]?.info else { return }
        var restored = link.restored(for: user, info)
        if restored.encoded().count > ServiceLimits.endedServiceOctets { restored.services = [] }
        manager.note(losing: restored)
    }

    /// The manager's current scan; nil when it is not scanning.
    var scanRequest: ScanRequest? { scan?.request }

    /// The peripherals that the session connects to or is connected to, in a stable order.
    private var peersInUse: [UUID] { uses.keys.sorted { $0.uuidString < $1.uuidString } }

    /// Hands the connection to `peer` over to another process of the app. Returns nil if there is no connection.
    private func renewUse(of peer: UUID) -> (link: PeerLink, user: Attachment)? {
        guard case .connected(let link, let user) = uses[peer] else { return nil }
        let new = link.renew(user)
        uses[peer] = .connected(link, new)
        return (link, new)
    }
}

extension ConnectOptions {
    fileprivate func wants(_ alert: AppAlert) -> Bool {
        switch alert {
        case .connected: notifiesOnConnection
        case .disconnected: notifiesOnDisconnection
        case .notified: notifiesOnNotification
        }
    }
}
