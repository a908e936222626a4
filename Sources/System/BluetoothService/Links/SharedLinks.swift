import ATT
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import SMP
import Security
import ServiceMessages

/// A central manager, as the links see it.
protocol LinkUser: ManagerSession {
    /// Whether the manager waits for a connection to `peer`.
    func wants(_ peer: UUID) -> Bool
    /// Whether to show the user an alert about `peer` in place of notifying the app.
    func wants(_ alert: AppAlert, of peer: UUID) -> Bool
    /// Returns the manager's use of a link that is ready, or nil if the manager does not wait for a connection to the
    /// peer. The manager is connected from then on.
    func use(of link: PeerLink) -> Attachment?
    /// Called when an attempt to connect to `peer` has failed, whichever manager requested it.
    func connectionFailed(to peer: UUID, _ error: ServiceError)
    /// Called when a link changed, whether or not the manager uses it.
    func linkChanged(of link: PeerLink, _ change: ConnectionChange)
    /// Called when a link that the manager uses is about to end.
    func linkEnds(_ link: PeerLink, _ user: Attachment)
    /// Called when a link has ended without a request of the manager.
    func linkClosed(_ link: PeerLink, _ user: Attachment, _ error: ServiceError)
}

/// A peripheral manager, as the links see it.
protocol LinkServer: ManagerSession {
    /// Called when a central can use the published services.
    func centralConnected(_ central: CentralInfo)
    /// Called when the MTU of a link has changed.
    func centralChanged(_ central: CentralInfo)
    /// Called when a central has disconnected, before ``centralLeft(_:)``.
    func centralDisconnected(_ central: UUID, _ error: ServiceError?)
    /// Called when the link to a central is gone, for whichever reason.
    func centralLeft(_ central: UUID)
}

/// The links of a system, which all managers share (behaviours 3.9, 3.10), and the requests for them. Used on the loop
/// only.
package final class SharedLinks {
    let configuration: SystemConfiguration
    let loop: any EventLoop
    let observers: Observers
    let peers: Peers
    /// The established links, the oldest first.
    private(set) var all: [PeerLink] = []

    private var open: OpenLink?
    /// Called with the data of each procedure in which this device was the reflector, for its Ranging Service.
    package var onReflection: ((RangingData) -> Void)?
    let managers: ManagerTable
    let served: ServedCentrals
    /// Accepts the enhanced bearers that peers open, if the configuration allows them.
    let enhancedBearers: EnhancedBearerListener?
    let controllers: Controllers

    init(
        _ configuration: SystemConfiguration,
        loop: any EventLoop,
        observers: Observers,
        peers: Peers,
        controllers: Controllers,
        managers: ManagerTable,
        served: ServedCentrals,
        enhancedBearers: EnhancedBearerListener?
    ) {
        self.configuration = configuration
        self.loop = loop
        self.observers = observers
        self.peers = peers
        self.controllers = controllers
        self.managers = managers
        self.served = served
        self.enhancedBearers = enhancedBearers
    }

    func follow(_ device: GenericAccess) {
        device.onLink = { [weak self] in self?.attemptEnded(.success($0), at: $0.connection.peerAddress) }
        device.watchConnections(for: self) { [weak self] result, peer in
            // Links of both roles have been reported already, before anything was received on them.
            if case .failure(let error) = result { self?.attemptEnded(.failure(error), at: peer) }
        }
    }

    /// The central managers, the oldest first.
    private var users: [any LinkUser] { managers.sessions() }

    /// The peripheral managers, the oldest first.
    private var servers: [any LinkServer] { managers.sessions() }

    private func user(_ user: Attachment) -> (any LinkUser)? { managers.session(user.key) as? any LinkUser }

    func link(to peer: UUID) -> PeerLink? { all.first { $0.peer == peer } }

    /// Returns the link that an event of the host stack is about.
    func link(with handle: ConnectionHandle?) -> PeerLink? { all.first { $0.connection.handle == handle } }
}

// MARK: - Requests

extension SharedLinks {
    /// Called when a manager requests a connection to `peer`. Joins an existing link, or requests one (behaviour 3.9).
    func connectionWanted(to peer: UUID) {
        if let link = link(to: peer), !link.isEnding {
            // A link that is not ready yet is announced later, to all managers that wait for it.
            if link.isReady { attachUsers(to: link) }
        } else if link(to: peer) == nil, let address = peers[peer]?.address {
            controllers.device?.connector.want(address)
        }
    }

    func connectionUnwanted(to peer: UUID) {
        guard let address = peers[peer]?.address, !users.contains(where: { $0.wants(peer) }) else { return }
        controllers.device?.connector.withdraw(address)
        link(to: peer)?.endIfUnused()
    }

    /// Connects all managers that wait for a link that is ready.
    private func attachUsers(to link: PeerLink) {
        for user in users {
            if let use = user.use(of: link) { link.attach(use) }
        }
    }

    /// Reports the failure of an attempt to connect to all managers that wait for it.
    private func report(_ error: ServiceError, to peer: UUID) {
        for user in users { user.connectionFailed(to: peer, error) }
    }
}

// MARK: - Links that begin

extension SharedLinks {
    /// Called when the controller has established a link, in either role, or has failed to. Without an address, no
    /// attempt can succeed, because the controller is gone.
    private func attemptEnded(_ result: Result<AccessLink, GAPError>, at address: BluetoothAddress?) {
        guard !endsOpenAttempt(result, at: address), let address else { return }
        switch result {
        case .success(let link): add(link, to: peers.peer(at: address).identifier)
        case .failure(let error):
            // Refused because of another link: to this peer or, with some controllers, to any. It stays pending.
            guard let status = error.status, status != .connectionAlreadyExists else { return }
            report(ServiceError(connecting: status), to: peers.peer(at: address).identifier)
        }
    }

    private func add(_ link: AccessLink, to peer: UUID) {
        peers.hold(peer)
        let made = PeerLink(link, peer: peer, of: self)
        all.append(made)
        observers.report(.links, .linkMade, of: made.subject)
        made.prepare { [weak self, weak made] result in
            if let self, let made { prepared(made, result) }
        }
    }

    /// Called when a link is ready, or is to end because a bonded peer cannot prove its identity (behaviour 6.12).
    private func prepared(_ link: PeerLink, _ result: Result<Void, SecurityError>) {
        switch result {
        case .success:
            notifyWatchers(of: link, .connected)
            alert(.connected, of: link.peer)
            if link.servesCentral { for server in servers { server.centralConnected(link.centralInfo) } }
            attachUsers(to: link)
            // The apps that requested the link may have cancelled meanwhile.
            link.endIfUnused()
        // The disconnection reports the details.
        case .failure(.linkLost): break
        case .failure(let error):
            report(ServiceError(error), to: link.peer)
            link.disconnect()
        }
    }
}

// MARK: - The open link

extension SharedLinks {
    /// Connects for a tool. This replaces an open link that is still being established.
    func use(_ new: OpenLink) {
        open = new
        controllers.device?.connector.want(new.peer)
    }

    /// Passes the outcome of an attempt to the tool if it is about the open link.
    private func endsOpenAttempt(_ result: Result<AccessLink, GAPError>, at address: BluetoothAddress?) -> Bool {
        guard let open, let device = controllers.device else { return false }
        let peer = device.privacy.identity(of: open.peer)
        guard address == nil || address.map(device.privacy.identity) == peer else { return false }
        self.open = nil
        switch result {
        case .success(let link):
            open.onLink(link, link.openAttributes(mtu: configuration.preferredMTU, enhanced: enhancedBearers))
        case .failure(let error):
            device.connector.withdraw(peer)
            open.onFailure(error)
        }
        return true
    }
}

// MARK: - Links that end

extension SharedLinks {
    func ended(_ link: PeerLink, _ end: AccessLink.End) {
        all.removeAll { $0 === link }
        observers.report(.links, .linkEnded(end.reason), of: link.subject, andThen: { conclude(link, end) })
    }

    private func conclude(_ link: PeerLink, _ end: AccessLink.End) {
        switch end {
        case .disconnected(let reason): over(link, reason)
        case .replaced: over(link, .remoteUserTerminated)
        // Managers are notified of the state alone (behaviour 1.11).
        case .controllerGone: _ = close(link)
        }
    }

    /// Closes a link that is gone and unsubscribes its central (behaviour 7.40).
    ///
    /// - Returns: The users of the link.
    private func close(_ link: PeerLink) -> [Attachment] {
        let users = link.close()
        peers.release(link.peer)
        for server in servers { server.centralLeft(link.peer) }
        return users
    }

    /// Reports a lost link to all managers that used it or waited for it.
    private func over(_ link: PeerLink, _ reason: HCIStatus) {
        let error = link.error(for: reason)
        if !link.isReady, !link.isEnding, !reason.isOfTheAir { report(error, to: link.peer) }
        if link.servesCentral {
            let told = link.isEnding ? nil : error
            for server in servers { server.centralDisconnected(link.peer, told) }
        }
        if link.isReady { alert(.disconnected, of: link.peer) }
        for user in link.users { self.user(user)?.linkEnds(link, user) }
        for user in close(link) { self.user(user)?.linkClosed(link, user, error) }
        if link.isReady { notifyWatchers(of: link, .disconnected) }
        // Connection requests that arrived while the link was ending need a new link.
        if users.contains(where: { $0.wants(link.peer) }) { connectionWanted(to: link.peer) }
    }

    /// Reports a change to the managers that registered for connection events.
    func notifyWatchers(of link: PeerLink, _ change: ConnectionChange) {
        for user in users { user.linkChanged(of: link, change) }
    }
}

// MARK: - Prompts

extension SharedLinks {
    /// Returns the apps that are connected to the peer of a prompt, with their phases.
    package func apps(of peer: PromptedPeer) -> [(app: AppIdentity, phase: AppPhase)] {
        let link = all.first { $0.secureLink.number == peer.link }
        return (link?.users ?? []).map { ($0.subject.app ?? AppIdentity(name: ""), $0.phase) }
    }

    /// Whether all apps behind a prompt are in the background, so that it waits as a notification (behaviour 6.21).
    package func isInBackground(_ peer: PromptedPeer) -> Bool {
        let apps = apps(of: peer)
        return !apps.isEmpty && apps.allSatisfy { $0.phase != .foreground }
    }

    /// Returns the apps that need the pairing of a prompt: those whose requests to the peer are running, or else those
    /// that are connected to it. Empty if the peer began.
    package func askers(of peer: PromptedPeer) -> [AppIdentity] {
        guard peer.cause == .app, let link = all.first(where: { $0.secureLink.number == peer.link }) else { return [] }
        let running = link.operations.askers
        return (running.isEmpty ? link.users.compactMap(\.app) : running).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }
}

// MARK: - For links

extension SharedLinks {
    func centralChanged(_ central: CentralInfo) {
        for server in servers { server.centralChanged(central) }
    }

    /// Passes on what this device measures as reflector. As central, a session replaces this.
    func watchReflections(of sounding: LinkSounding) {
        sounding.onProcedure = { [weak self, weak sounding] procedure in
            guard let self, let sounding else { return }
            onReflection?(RangingData(procedure, txPower: sounding.txPower))
        }
    }

    /// Alerts the user to an event of a peer, in place of suspended apps that asked for the alert. If there are
    /// several, the alert names the app that was in the foreground last (behaviour 3.15). Called before the apps are
    /// notified.
    func alert(_ alert: AppAlert, of peer: UUID) {
        let candidates = users.filter { $0.wants(alert, of: peer) }.map(\.manager)
        guard let last = candidates.max(by: { $0.lifecycle.lastInFront < $1.lifecycle.lastInFront }) else { return }
        let name = peers[peer]?.info.name?.quotedName
        observers.report(.alert(app: last.appName, peer: name ?? "\(peer)", alert))
    }
}

extension HCIStatus {
    /// Whether the link was lost for radio reasons, so that the next attempt may succeed.
    fileprivate var isOfTheAir: Bool { self == .connectionTimeout || self == .connectionFailedToBeEstablished }
}
