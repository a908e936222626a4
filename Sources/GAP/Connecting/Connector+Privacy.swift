import BluetoothTypes
import EventLoops
import HCI
import Privacy

/// Support for peers with private addresses.
extension Connector {
    /// The address under which a pending connection is kept: the identity address of a bonded peer.
    func identity(of address: BluetoothAddress) -> BluetoothAddress {
        privacy?.identity(of: address) ?? address.plain
    }

    /// Starts connecting to a peer. The controller does the search if it can resolve the peer's address, otherwise the
    /// host.
    func begin(_ peer: BluetoothAddress) {
        guard let privacy, isResolvedByHost(peer) else { return handle(.want(peer)) }
        seek(.want(peer))
        // The peer may have been chosen from a recent scan.
        if let address = privacy.recentAddress(of: peer) { seek(.heard(peer, at: address)) }
    }

    /// Called when the resolving list or the bonds have changed. Moves pending connections between controller and host.
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

    /// Declares that connections are made from an address that bonded devices recognise, while any connection is
    /// pending.
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

    /// Pauses connecting, and notifies `privacy` once the controller has stopped.
    package func pause() { pause(.privacy) }

    /// Resumes connecting, unless it is paused for another reason too.
    package func resume() { resume(.privacy) }

    func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        handle(.pause)
    }

    func resume(_ holder: RadioHolders.Holder) {
        if holders.remove(holder) { handle(.resume) }
    }
}
