import BluetoothTypes
import EventLoops
import HCI
import Privacy

/// Connections to peers whose addresses change.
extension Connector {
    /// What a wish is known by.
    func identity(of address: BluetoothAddress) -> BluetoothAddress {
        privacy?.identity(of: address) ?? address.plain
    }

    /// Begins to look for a peer: the controller does when it knows it by the address that it will show, the host otherwise.
    func begin(_ peer: BluetoothAddress) {
        guard let privacy, isResolvedByHost(peer) else { return handle(.want(peer)) }
        seek(.want(peer))
        // It may have been picked from a scan just now.
        if let address = privacy.recentAddress(of: peer) { seek(.heard(peer, at: address)) }
    }

    /// The resolving list or the bonds are others: whoever was looked for in one way may have to be in the other one.
    package func reviewRoutes() {
        for peer in wanted {
            let isSought = seeker.peers[peer] != nil
            guard isSought != isResolvedByHost(peer) else { continue }
            seek(.unwant(peer))
            handle(.unwant(peer))
            begin(peer)
        }
    }

    private func isResolvedByHost(_ peer: BluetoothAddress) -> Bool {
        scanner != nil && privacy?.isResolvedByHost(peer) == true
    }

    /// While somebody is wanted, connections are made from the address that bonded devices recognise.
    func reviewAddressNeed() {
        privacy?.declare(wanted.isEmpty ? .none : .recognisable, of: .connector)
    }

    func seek(_ event: SeekMachine.Event) {
        for action in seeker.handle(event) {
            switch action {
            case .listen: listen()
            case .endListening: scanner?.seek(nil)
            case .connect(let address): handle(.want(address))
            case .giveUp(let address): handle(.unwant(address))
            case .startTimer(let peer):
                if let old = tries[peer] { loop.cancel(old) }
                tries[peer] = loop.schedule(after: SeekMachine.tryTime) { [weak self] in
                    self?.tries[peer] = nil
                    self?.seek(.timeOver(peer))
                }
            case .endTimer(let peer): if let task = tries.removeValue(forKey: peer) { loop.cancel(task) }
            }
        }
    }

    private func listen() {
        guard let scanner else { return }
        scanner.onHeard = { [weak self] in self?.seek(.heard($0, at: $1)) }
        scanner.onSeekFailed = { [weak self] error in
            guard let self else { return }
            for peer in seeker.peers.keys { failed(peer, error.status ?? .unspecifiedError) }
        }
        var how = ScanSettings(isActive: false, interval: settings.scanInterval, window: settings.scanWindow)
        how.phys = settings.phys
        scanner.seek(how)
    }

    /// Lets the controller stop looking for a while, and tells the privacy when it has.
    package func pause() { pause(.privacy) }

    /// Lets it go on.
    package func resume() { resume(.privacy) }

    func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        handle(.pause)
    }

    func resume(_ holder: RadioHolders.Holder) {
        if holders.remove(holder) { handle(.resume) }
    }
}
