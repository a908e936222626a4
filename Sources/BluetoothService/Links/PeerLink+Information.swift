import BluetoothTypes
import Bonds
import GAP
import GATT
import HCI
import HCIHost
import L2CAP
import Security

// MARK: - Link information (behaviour 15.4)

extension PeerLink {
    /// The properties of the link that the controller and the layers above it have reported.
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

    /// Reports the properties of the link, including its signal strength, to a manager.
    func readInformation(for asker: Asker) {
        readStrength { [weak self] result in
            guard let self else { return }
            var facts = facts
            facts.rssi = try? result.get()
            asker.answer(.linkInformation(facts))
        }
    }

    /// Starts or stops notifying a manager of changes of the link. Starting reports the current properties at once.
    func watch(_ isWatched: Bool, for user: Attachment) {
        user.watchesLink = isWatched
        guard isWatched else { return }
        let facts = facts
        lastFacts = facts
        user.emit(.linkInformation(facts))
    }

    /// Notifies the watching managers if the properties of the link have changed.
    func informationChanged() {
        guard users.contains(where: \.watchesLink) else { return }
        let facts = facts
        guard facts != lastFacts else { return }
        lastFacts = facts
        for user in users where user.watchesLink { user.emit(.linkInformation(facts)) }
    }

    /// Requests the connection parameters and PHY that a manager prefers. If the peer or the rules refuse, nothing
    /// changes and nothing is reported to the app.
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
            return system.trouble("the preferred connection parameters are invalid: \(parameters)", .detail)
        }
        link.updateParameters(parameters) { [weak self] result in
            self?.system.trouble("the request for preferred connection parameters ended: \(result)", .detail)
        }
    }
}

// MARK: - Refreshing the services (behaviour 15.6)

extension PeerLink {
    /// Forgets all cached services, on this link and beyond it, notifies all managers on the link, and discovers the
    /// services anew.
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
