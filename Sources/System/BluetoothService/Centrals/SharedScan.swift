import BluetoothTypes
import EventLoops
import GAP
import HCI
import ServiceMessages

/// The one scan of a system, for the scans of all its managers. Used on the loop only.
final class SharedScan {
    private let loop: any EventLoop
    private let observers: Observers
    private let peers: Peers
    private let controllers: Controllers
    /// Returns the central managers, the oldest first.
    private let sessions: () -> [CentralSession]

    init(
        loop: any EventLoop,
        observers: Observers,
        peers: Peers,
        controllers: Controllers,
        sessions: @escaping () -> [CentralSession]
    ) {
        self.loop = loop
        self.observers = observers
        self.peers = peers
        self.controllers = controllers
        self.sessions = sessions
    }

    /// Starts, updates or ends the scan after the scans of managers have changed (behaviour 9.11).
    func changed() {
        let scanning = sessions().filter(\.scans)
        guard !scanning.isEmpty else { return controllers.device?.endScan(for: self) ?? () }
        do throws(GAPError) {
            try controllers.device?.scan(
                scanning.contains(where: \.isWaitedFor) ? .attentive : .background,
                for: self,
                onSighting: { [weak self] in self?.heard($0) },
                onEnd: { [weak self] in if let error = $0 { self?.observers.trouble("the scan ended: \(error)") } }
            )
        } catch {
            observers.trouble("cannot scan: \(error)")
        }
    }

    private func heard(_ sighting: Sighting) {
        guard sighting.isForApps else { return }
        let identifier = peers.peer(at: sighting.address).identifier
        peers.setAdvertisedName(sighting.data.localName?.text, of: identifier, at: loop.now)
        peers.heard(identifier, rssi: sighting.rssi, at: loop.now)
        guard let peer = peers[identifier] else { return }
        let heard = HeardAdvertisement(sighting)
        for session in sessions() { session.heard(heard, from: peer) }
    }
}

extension Sighting {
    /// The longest extended advertisement that is reported to apps (behaviour 2.26).
    private static let maximumExtendedLength = 124

    /// Whether apps receive the advertisement. Anonymous ones are left out, since a peer without an address can neither
    /// be connected nor identified. Of extended advertisements, only those on 2M are reported (behaviour 2.26).
    fileprivate var isForApps: Bool {
        guard !isAnonymous else { return false }
        guard let phys else { return true }
        return phys.secondary == .le2M && data.encodedLength <= Self.maximumExtendedLength
    }
}
