import BluetoothTypes
import Bonds
import GAP
import GATT
import HCI
import HCIHost
import L2CAP
import Security

// MARK: - What the link is like (behaviour 15.4)

extension PeerLink {
    /// What the controller and the layers above it have told of the link.
    var facts: LinkFacts {
        var facts = LinkFacts()
        facts.interval = Int(connection.interval) * 1_250
        facts.latency = Int(connection.latency)
        facts.supervisionTimeout = Int(connection.supervisionTimeout) * 10
        (facts.txPHY, facts.rxPHY) = (Int(connection.txPHY.rawValue), Int(connection.rxPHY.rawValue))
        (facts.maxTxOctets, facts.maxRxOctets) = (Int(connection.maxTxOctets), Int(connection.maxRxOctets))
        facts.mtu = maximumCommandLength + 3
        if let encryption = secured.linkSecurity.encryption {
            facts.isEncrypted = true
            facts.isAuthenticated = encryption.isAuthenticated
            facts.keySize = Int(encryption.keySize)
        }
        facts.isBonded = secured.bond != nil
        return facts
    }

    /// Tells a manager what the link is like, with its signal strength.
    func readInformation(for asker: Asker) {
        readStrength { [weak self] result in
            guard let self else { return }
            var facts = facts
            facts.rssi = try? result.get()
            asker.answer(.linkInformation(facts))
        }
    }

    /// A manager wants to know of changes, and what the link is like to begin with, or does not any more.
    func watch(_ isWatched: Bool, for user: Attachment) {
        user.watchesLink = isWatched
        guard isWatched else { return }
        let facts = facts
        lastFacts = facts
        user.emit(.linkInformation(facts))
    }

    /// The link is another one than before, perhaps: those who want to know hear what it is like.
    func informationChanged() {
        guard users.contains(where: \.watchesLink) else { return }
        let facts = facts
        guard facts != lastFacts else { return }
        lastFacts = facts
        for user in users where user.watchesLink { user.emit(.linkInformation(facts)) }
    }

    /// Asks for what a manager would like. What the other device or the rules forbid stays as it is, and nobody is told.
    func prefer(_ preference: LinkPreference) {
        if let phy = preference.phy { link.prefer(phy: LEPHY(rawValue: UInt8(clamping: phy))) }
        guard preference.minimumInterval != nil || preference.maximumInterval != nil else { return }
        func units(_ microseconds: Int?, otherwise other: Int) -> UInt16 {
            UInt16(clamping: (microseconds ?? other) / 1_250)
        }
        let shortest = preference.minimumInterval ?? preference.maximumInterval ?? 0
        let parameters = ConnectionParameters(
            intervalMinimum: units(preference.minimumInterval, otherwise: shortest),
            intervalMaximum: max(units(preference.maximumInterval, otherwise: shortest), units(shortest, otherwise: 0)),
            latency: UInt16(clamping: preference.latency),
            timeout: UInt16(clamping: preference.supervisionTimeout / 10)
        )
        guard parameters.isLegal else {
            return system.trouble("a wish for connection parameters is not legal: \(parameters)", .detail)
        }
        link.updateParameters(parameters) { [weak self] result in
            self?.system.trouble("the wish for connection parameters ended: \(result)", .detail)
        }
    }
}

// MARK: - What is known of the peer's services is not believed any more (behaviour 15.6)

extension PeerLink {
    /// Forgets what is known, on this link and beyond it, tells all who use the link, and discovers the services anew.
    func refreshServices(for asker: Asker) {
        run(for: asker, orFail: { .servicesDiscovered(.failure($0)) }) { link, finish in
            link.forgetTable { [weak link] in
                guard let link else { return finish(.servicesDiscovered(.failure(.unknown(1)))) }
                link.loadServices { result in
                    finish(.servicesDiscovered(result.map { link.found($0, by: asker.user) }))
                }
            }
        }
    }

    private func forgetTable(_ done: @escaping () -> Void) {
        client.cache = AttributeCache()
        system.remember(nil, of: peer)
        servicesChanged(0x0001...0xFFFF)
        guard tableIsBonded, let bond = secured.bond else { return done() }
        system.keeper.note(bond.identifier) { $0.cache = nil }
        client.readDatabaseHash { _ in done() }
    }
}
