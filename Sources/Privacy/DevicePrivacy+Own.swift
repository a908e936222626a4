import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import SMP

/// The addresses of this device.
extension DevicePrivacy {
    /// What the scanner and the initiator show, and without extended advertising the advertiser. For a peer that the
    /// controller knows it makes an address of its own, and this one stands in for others.
    package var sharedAddress: OwnAddress? {
        guard let current else { return nil }
        var address = current.address
        address.isMadeByController = current.kind == .resolvable && list.isInUse
        return address
    }

    /// The resolvable private address that is shared; nil when that is another one.
    package var sharedResolvableAddress: BluetoothAddress? {
        current.flatMap { $0.kind == .resolvable ? $0.address.address : nil }
    }

    /// Shares this resolvable private address, which a set has shown so far, when the next one is set.
    package func keep(_ address: BluetoothAddress) {
        pendingAddress = (OwnAddress(address), .resolvable)
    }

    /// An address for an advertising set of its own.
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

    /// A user of the radio asks for an address, or for none any more. Another one is set if need be, before it begins.
    package func declare(_ need: AddressNeed, of user: QuietMachine.User) {
        shared.set(need, of: user)
        guard let current, current.kind != shared.kind(isPrivate: isPrivate) else { return }
        handle(.need(.address))
    }

    /// Whom an advertisement is directed to, and whether the controller makes both addresses. A peer that resolves addresses
    /// is called by a private one of its own; another one would not know it (Core Vol 3 Part C 9.3.3, 10.7.1.2). A controller
    /// that does not resolve addresses itself understands the answer only if it comes from the very address that was called,
    /// so that is the one that the peer had last.
    package func target(_ peer: BluetoothAddress) -> (address: BluetoothAddress, isMadeByController: Bool) {
        let known = self.peer(at: peer)
        guard let known, let key = known.key, resolves(known) else { return (known?.identity ?? peer, false) }
        if list.isInUse, list.entries[known.identity]?.key != nil { return (known.identity, isPrivate) }
        return (lastAddresses[known.identity] ?? .resolvablePrivate(key, random), false)
    }

    /// A link has been made. Called before the advertiser and the connector learn of it.
    ///
    /// - Returns: The address that this device had on the air for it: what pairing on it is computed with. For a peripheral
    ///   with several connectable sets ``ownAddress(of:)`` is certain once the controller has told which set it was, right
    ///   after the connection.
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

    /// The address that this device had on the air when a link was made; nil for a link that ``connected(_:)`` was not told
    /// of.
    package func ownAddress(of connection: HCIConnection) -> BluetoothAddress? {
        guard let known = linkAddresses[connection.handle], known.connection === connection else { return nil }
        return known.address
    }

    /// The controller tells which set a link is from.
    package func connected(_ handle: ConnectionHandle, toSetAt address: BluetoothAddress) {
        guard let known = linkAddresses[handle]?.connection, known.localResolvableAddress == nil else { return }
        linkAddresses[handle]?.address = address
    }
}

// MARK: - In the quiet

extension DevicePrivacy {
    /// One event after the other, also when one leads to the next.
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

    /// The controller has been reset, unless that could not be: its list is empty, and it has no address.
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
        // Somebody may have come meanwhile who needs another kind.
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
