import ATT
import BluetoothTypes
import GAP
import HCI
import HCIHost
import Security
import ServiceMessages

/// Reports the properties of one link, and its signal strength, to the managers that ask for them or watch them
/// (behaviour 15.4).
final class LinkReporter {
    private let link: AccessLink
    private let bearer: ATTBearer
    private let attributes: RemoteAttributes
    private let users: Attachments
    /// The properties that were last reported to the managers that watch the link.
    private var lastFacts: LinkFacts?
    /// Pending requests for the signal strength, which one HCI command answers together, so that apps cannot fill the
    /// command queue that all links share (AB-G05).
    private var strengthRequests: [(Result<Int, HCICommandError>) -> Void] = []

    init(_ link: AccessLink, _ bearer: ATTBearer, _ attributes: RemoteAttributes, _ users: Attachments) {
        self.link = link
        self.bearer = bearer
        self.attributes = attributes
        self.users = users
    }

    /// The properties of the link that the controller and the layers above it have reported.
    var facts: LinkFacts {
        var facts = LinkFacts()
        let connection = link.connection
        facts.interval = Int(connection.interval) * 1_250
        facts.latency = Int(connection.latency)
        facts.supervisionTimeout = Int(connection.supervisionTimeout) * 10
        (facts.txPHY, facts.rxPHY) = (Int(connection.txPHY.rawValue), Int(connection.rxPHY.rawValue))
        (facts.maxTxOctets, facts.maxRxOctets) = (Int(connection.maxTxOctets), Int(connection.maxRxOctets))
        facts.mtu = bearer.mtu
        if let encryption = link.secureLink.linkSecurity.encryption {
            facts.isEncrypted = true
            facts.isAuthenticated = encryption.isAuthenticated
            facts.keySize = Int(encryption.keySize)
        }
        facts.isBonded = link.secureLink.bond != nil
        facts.tableFlaws = attributes.flaws
        return facts
    }

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

    func linkChanged() {
        guard users.all.contains(where: \.watchesLink) else { return }
        let facts = facts
        guard facts != lastFacts else { return }
        lastFacts = facts
        for user in users.all where user.watchesLink { user.emit(.linkInformation(facts)) }
    }

    // MARK: Signal strength

    /// Reads the signal strength. It is not an attribute, so the request does not wait for the queue of procedures.
    func readRSSI(for asker: Asker) {
        readStrength { result in
            let rssi = result.mapError { ServiceError(.unknown, reason: "reading the signal strength failed: \($0)") }
            asker.answer(.rssiRead(rssi))
        }
    }

    /// Reads the signal strength from the controller, once for all requests that arrive before it answers.
    private func readStrength(_ completion: @escaping (Result<Int, HCICommandError>) -> Void) {
        guard strengthRequests.count < ServiceLimits.linkRequests.total else { return completion(.failure(.queueFull)) }
        strengthRequests.append(completion)
        guard strengthRequests.count == 1 else { return }
        link.readRSSI { [weak self] result in
            let waiting = self?.strengthRequests ?? []
            self?.strengthRequests = []
            for completion in waiting { completion(result) }
        }
    }
}
