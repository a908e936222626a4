import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import SMP

/// The device's own addresses.
extension DevicePrivacy {
    /// The address of the scanner and the initiator, and without extended advertising also of the advertiser.
    ///
    /// For a peer on its resolving list the controller generates a private address; for other peers it uses this one.
    package var sharedAddress: OwnAddress? {
        guard let current else { return nil }
        var address = current.address
        address.isMadeByController = current.kind == .resolvable && list.isInUse
        return address
    }

    /// The shared address if it is a resolvable private address; otherwise nil.
    package var sharedResolvableAddress: BluetoothAddress? {
        current.flatMap { $0.kind == .resolvable ? $0.address.address : nil }
    }

    /// Makes the shared address adopt this resolvable private address, used so far by an advertising set, at the next
    /// change.
    package func keep(_ address: BluetoothAddress) {
        pendingAddress = (OwnAddress(address), .resolvable)
    }

    /// Draws an address for a single advertising set; nil if the device's fixed address is to be used.
    package func drawAddress(_ kind: SharedAddress.Kind) -> BluetoothAddress? {
        let drawn = draw(kind)
        return drawn.kind == .fixed ? nil : drawn.address.address
    }

    func draw(_ kind: SharedAddress.Kind) -> (address: OwnAddress, kind: SharedAddress.Kind) {
        switch kind {
        case .nonResolvable: return (OwnAddress(.nonResolvablePrivate(random)), kind)
        case .resolvable:
            guard let identity else { break }
            return (OwnAddress(.resolvablePrivate(identity.key, random)), kind)
        case .fixed: break
        }
        return (base ?? OwnAddress(.none), .fixed)
    }

    /// Records a radio user's need for the shared address, and requests another address if the kind no longer fits. The
    /// new address is set before the user starts.
    package func declare(_ need: AddressNeed, of user: QuietMachine.User) {
        shared.set(need, of: user)
        guard let current, current.kind != shared.kind(isPrivate: isPrivate) else { return }
        handle(.need(.address))
    }

    /// Returns the address to which directed advertising to a peer is sent, and whether the controller generates the
    /// addresses.
    ///
    /// A peer that supports address resolution is addressed by a private address of its own; any other peer would not
    /// recognise one (Core Vol 3 Part C 9.3.3, 10.7.1.2). A controller that does not resolve addresses itself accepts
    /// the peer's response only from exactly the target address, so the host uses the address that the peer had last.
    package func target(_ peer: BluetoothAddress) -> (address: BluetoothAddress, isMadeByController: Bool) {
        let known = self.peer(at: peer)
        guard let known, let key = known.key, resolves(known) else { return (known?.identity ?? peer, false) }
        if list.isInUse, list.entries[known.identity]?.key != nil { return (known.identity, isPrivate) }
        return (lastAddresses[known.identity] ?? .resolvablePrivate(key, random), false)
    }

    /// Records the own address of a new link. Called before the advertiser and the connector learn of the link.
    ///
    /// - Returns: The address that this device used on the air for the link, from which pairing on the link is
    ///   computed. For a peripheral with several connectable sets, ``ownAddress(of:)`` is only final once the
    ///   controller has reported the advertising set, right after the connection.
    @discardableResult
    package func connected(_ connection: HCIConnection) -> BluetoothAddress? {
        let ofSet = connection.role == .peripheral ? advertiser?.connectableAddress : nil
        if let peer = peer(at: connection.peerAddress), peer.identity != connection.peerAddress.plain {
            lastAddresses[peer.identity] = connection.peerAddress.plain
        }
        guard let address = connection.localResolvableAddress ?? ofSet ?? current?.address.address else { return nil }
        linkAddresses[connection.handle] = LinkAddress(connection: connection, address: address)
        return address
    }

    /// The address that this device used on the air when the link was made; nil if ``connected(_:)`` was not called for
    /// the link.
    package func ownAddress(of connection: HCIConnection) -> BluetoothAddress? {
        guard let known = linkAddresses[connection.handle], known.connection === connection else { return nil }
        return known.address
    }

    /// Handles the controller's report of the advertising set from which a link was made.
    package func connected(_ handle: ConnectionHandle, toSetAt address: BluetoothAddress) {
        guard let known = linkAddresses[handle]?.connection, known.localResolvableAddress == nil else { return }
        linkAddresses[handle]?.address = address
    }
}

// MARK: - Quiet periods

extension DevicePrivacy {
    /// Handles events strictly one after the other, including those raised by handling one.
    package func handle(_ event: QuietMachine.Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        while !events.isEmpty {
            let next = events.removeFirst()
            for action in quiet.handle(next) { perform(action) }
        }
        isHandling = false
    }

    private func perform(_ action: QuietMachine.Action) {
        switch action {
        case .pause(let user): pause(user)
        case .resume(let user): resume(user)
        case .work(let jobs): work(jobs)
        case .startTimer:
            pauseTimer = loop.schedule(after: QuietMachine.limit) { [weak self] in
                self?.happenings.tell(PrivacyHappening.notQuiet)
                self?.handle(.timeOver)
            }
        case .endTimer:
            if let pauseTimer { loop.cancel(pauseTimer) }
        }
    }

    private func pause(_ user: QuietMachine.User) {
        switch user {
        case .advertiser: if let advertiser { advertiser.pause() } else { handle(.quiet(user)) }
        case .scanner: if let scanner { scanner.pause() } else { handle(.quiet(user)) }
        case .connector: if let connector { connector.pause() } else { handle(.quiet(user)) }
        }
    }

    private func resume(_ user: QuietMachine.User) {
        switch user {
        case .advertiser: advertiser?.resume()
        case .scanner: scanner?.resume()
        case .connector: connector?.resume()
        }
    }

    private func work(_ jobs: Set<QuietMachine.Job>) {
        if jobs.contains(.renewal), let renew {
            let life = life
            return renew { [weak self] controller in
                guard let self, self.life == life else { return }
                workAnew(jobs, on: controller)
            }
        }
        workInOrder(jobs)
    }

    private func workInOrder(_ jobs: Set<QuietMachine.Job>) {
        let rest: () -> Void = { [weak self] in
            guard let self else { return }
            jobs.contains(.list) ? workOnList() : handle(.done)
        }
        jobs.contains(.address) ? changeAddress(then: rest) : rest()
    }

    /// Continues after the controller was reset, which leaves it with an empty resolving list and no address. A nil
    /// controller means that the reset failed.
    private func workAnew(_ jobs: Set<QuietMachine.Job>, on controller: ControllerInformation?) {
        guard let controller else { return workInOrder(jobs) }
        list.begin(controller)
        list.choose(from: listable)
        handle(.begin(hasSetAddresses: controller.supportsExtendedAdvertising))
        if pendingAddress == nil, !jobs.contains(.address) { pendingAddress = current }
        workInOrder([.address, .list])
    }

    private func changeAddress(then done: @escaping () -> Void) {
        let new = pendingAddress ?? draw(shared.kind(isPrivate: isPrivate))
        pendingAddress = nil
        guard new.address.address.kind.isRandom else {
            addressChanged(to: new)
            return done()
        }
        let life = life
        host.send(LESetRandomAddress(address: new.address.address)) { [weak self] result in
            guard let self, self.life == life else { return }
            switch result {
            case .success: addressChanged(to: new)
            case .failure(let error): addressRefused(error, new)
            }
            if self.life == life { done() }
        }
    }

    private func addressChanged(to new: (address: OwnAddress, kind: SharedAddress.Kind)) {
        current = new
        if let expiry { loop.cancel(expiry) }
        // The needs may have changed in the meantime.
        if new.kind != shared.kind(isPrivate: isPrivate) { handle(.need(.address)) }
        guard new.kind != .fixed else { return }
        expiry = loop.schedule(after: interval) { [weak self] in self?.handle(.need(.address)) }
    }

    private func addressRefused(_ error: HCICommandError, _ new: (address: OwnAddress, kind: SharedAddress.Kind)) {
        guard !error.isOfHost else { return }
        happenings.tell(PrivacyHappening.addressRefused(error))
        guard current != nil else {
            onFailed?(error)
            return
        }
        retry = loop.schedule(after: Self.retryDelay) { [weak self] in self?.handle(.need(.address)) }
    }
}
