import HCI

/// The PHY update procedure (Core Vol 6 Part B 5.1.10).
extension LinkControl {
    mutating func startPHY(tx: LEPHYs, rx: LEPHYs) {
        if let remoteFeatures, remoteFeatures.isDisjoint(with: [.phy2M, .phyCoded]), isCentral || tx != .le1M {
            report(.phy(.unsupportedRemoteFeature))
            return
        }
        procedures.start(isCentral ? .phyAwaitingResponse(tx: tx, rx: rx) : .phyAwaitingIndication)
        send(.phyRequest(.init(tx: tx, rx: rx)))
    }

    mutating func receivePHYRequest(_ pdu: PHYPreferences) {
        guard mayBegin(.phyReq) else { return }
        let ours = setup.preferredPHYs
        guard isCentral else {
            guard remote == nil || remote == .phyAwaitingIndication else {
                // The central has another procedure in progress.
                refuse(.phyReq, .differentTransactionCollision)
                return
            }
            // The central's procedure takes precedence over this device's own (5.3).
            procedures.join(.phyAwaitingIndication)
            send(.phyResponse(ours))
            return
        }
        decidePHY(tx: ours.tx, rx: ours.rx, peer: pdu, isOwn: false)
    }

    mutating func receivePHYResponse(_ pdu: PHYPreferences) {
        guard isCentral, case .phyAwaitingResponse(let tx, let rx) = local else { return }
        procedures.noteAnswer()
        decidePHY(tx: tx, rx: rx, peer: pdu, isOwn: true)
    }

    /// Decides, as central, on the fastest PHY that both devices prefer, for each direction.
    private mutating func decidePHY(tx: LEPHYs, rx: LEPHYs, peer: PHYPreferences, isOwn: Bool) {
        let newTx = choice(tx.intersection(peer.rx), current: txPHY)
        let newRx = choice(rx.intersection(peer.tx), current: rxPHY)
        var pdu = PHYUpdateIndication()
        pdu.centralToPeripheral = newTx.flatMap { LEPHYs($0) } ?? []
        pdu.peripheralToCentral = newRx.flatMap { LEPHYs($0) } ?? []
        if pdu.changesNothing {
            send(.phyUpdate(pdu))
            if isOwn {
                procedures.end()
                report(.phy(.success))
            }
            return
        }
        pdu.instant = newInstant
        send(.phyUpdate(pdu))
        schedule(.phy(tx: newTx, rx: newRx), at: pdu.instant, isOwn: isOwn)
    }

    mutating func receivePHYUpdate(_ pdu: PHYUpdateIndication) {
        guard remote == .phyAwaitingIndication || local == .phyAwaitingIndication else { return }
        let isOwn = remote != .phyAwaitingIndication
        if pdu.changesNothing {
            if isOwn { procedures.end() } else { procedures.leave() }
            if isOwn { report(.phy(.success)) }
            return
        }
        guard isAllowed(pdu.centralToPeripheral), isAllowed(pdu.peripheralToCentral) else {
            // A direction cannot use several PHYs, or one that is not supported.
            emit(.end(.unsupportedLinkLayerParameter))
            return
        }
        let change = Change.phy(tx: pdu.peripheralToCentral.single, rx: pdu.centralToPeripheral.single)
        begin(change, at: pdu.instant, isOwn: isOwn)
    }

    // MARK: Values

    private func choice(_ common: LEPHYs, current: LEPHY) -> LEPHY? {
        let best: LEPHY? =
            common.contains(.le2M) ? .le2M : common.contains(.le1M) ? .le1M : common.contains(.coded) ? .coded : nil
        return best == current ? nil : best
    }

    private func isAllowed(_ phys: LEPHYs) -> Bool {
        phys.isEmpty || phys.single != nil && phys.isSubset(of: setup.phys)
    }
}
