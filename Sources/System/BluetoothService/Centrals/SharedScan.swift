import BluetoothTypes
import EventLoops
import GAP
import HCI
import ServiceMessages

/// The one scan of a system, for the scans of all its managers and an open scan. Used on the loop only.
final class SharedScan {
    private let loop: any EventLoop
    private let observers: Observers
    private let peers: Peers
    private let controllers: Controllers
    private let managers: ManagerTable
    /// Whether extended advertisements are reported (behaviour 2.26).
    private let reportsExtended: Bool
    /// Whether the manufacturer data of an advertisement and its scan response are reported as one (behaviour 2.41).
    let joinsManufacturerData: Bool
    private var open: OpenScan?
    /// Whether the user looks at a picker.
    private var isPicking = false

    init(_ links: SharedLinks) {
        (loop, observers, peers) = (links.loop, links.observers, links.peers)
        (controllers, managers) = (links.controllers, links.managers)
        reportsExtended = links.configuration.version.has(.extendedAdvertisements)
        joinsManufacturerData = links.configuration.version.has(.joinedManufacturerData)
    }

    /// Whether the radio is on, whether or not an app may use it.
    var isPoweredOn: Bool { controllers.state == .poweredOn }

    /// Begins an open scan as soon as Bluetooth is on. Nil ends it.
    func use(_ new: OpenScan?) {
        open = new
        guard isPoweredOn else { return }
        if new == nil { changed() } else { begin() }
    }

    /// Begins the open scan, if there is one. Called when Bluetooth is on. Managers begin their own scans.
    func begin() {
        if let open, changed() { open.onStart() }
    }

    /// Starts, updates or ends the scan after the scans of managers have changed (behaviour 9.11).
    ///
    /// - Returns: Whether the scan is under way.
    @discardableResult
    func changed() -> Bool {
        isPicking = managers.sessions(as: AccessorySetupSession.self).contains(where: \.scans)
        guard let device = controllers.device else { return false }
        guard let settings else {
            device.endScan(for: self)
            return false
        }
        do throws(GAPError) {
            try device.scan(
                settings,
                for: self,
                onSighting: { [weak self] in self?.receive($0) },
                onEnd: { [weak self] in self?.ended($0) }
            )
            return true
        } catch {
            if let open { open.onEnd(error) } else { observers.trouble("cannot scan: \(error)") }
            return false
        }
    }

    /// The settings of the scan; nil if there is none.
    private var settings: ScanSettings? {
        if let open { return open.settings }
        if isPicking { return .attentive }
        let scanning = managers.sessions(as: CentralSession.self).filter(\.scans)
        guard !scanning.isEmpty else { return nil }
        return scanning.contains(where: \.isWaitedFor) ? .attentive : .background
    }

    private func ended(_ error: GAPError) {
        if let open { open.onEnd(error) } else { observers.trouble("the scan ended: \(error)") }
    }

    private func receive(_ sighting: Sighting) {
        open?.onSighting(sighting)
        guard sighting.isForApps(reportsExtended) else { return }
        let (identifier, name) = (peers.peer(at: sighting.address).identifier, sighting.data.localName?.text)
        guard let peer = peers.noteAdvertisement(identifier, name: name, rssi: sighting.rssi, at: loop.now) else {
            return
        }
        let heard = ReceivedAdvertisement(sighting)
        for session in managers.sessions(as: CentralSession.self) { session.receive(heard, from: peer) }
        guard isPicking else { return }
        for session in managers.sessions(as: AccessorySetupSession.self) { session.receive(heard, from: peer) }
    }
}

extension Sighting {
    /// The longest extended advertisement that is reported to apps (behaviour 2.26).
    private static let maximumExtendedLength = 124

    /// Whether apps receive the advertisement. Anonymous ones are left out, since a peer without an address can neither
    /// be connected nor identified. Of extended advertisements, only those on 2M are reported, since iOS 13
    /// (behaviour 2.26).
    fileprivate func isForApps(_ reportsExtended: Bool) -> Bool {
        guard !isAnonymous else { return false }
        guard let phys else { return true }
        return reportsExtended && phys.secondary == .le2M && data.encodedLength <= Self.maximumExtendedLength
    }
}
