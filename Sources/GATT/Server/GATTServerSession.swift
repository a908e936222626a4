import ATT
import BluetoothTypes
import EventLoops
import L2CAP

/// One client of the server: what it has chosen, prepared and been told.
///
/// A client is a link, whatever bearers it has: choices, features, knowledge of changes, security and prepared writes
/// are shared by them (Core Vol 3 Part G 3.3.3.3 and Part F 3.4.6); MTU, the order of requests and indications that wait
/// belong to each bearer. Values go over the first bearer that is open, so that they arrive in order and one indication
/// at a time is under way to the client (Part F 3.4.7.2).
package final class GATTServerSession {
    /// Most bearers of a client: the fixed channel, and as many enhanced ones as one request may open (Core Vol 3 Part A
    /// 4.25) three times over.
    package static let maximumBearers = 16
    /// How long the changes of a client's record are gathered before the delegate is told (AB-A11).
    package static let recordInterval = Duration.seconds(1)

    /// The client's first bearer: the one on the fixed channel.
    package let bearer: ATTBearer
    /// The bearers that are open, the first one first.
    package private(set) var bearers: [ATTBearer] = []
    /// The security of its link, kept up to date by the owner. With each change the client's choices are looked at again. What
    /// has arrived before a change is judged by what held then too.
    package var security: LinkSecurity {
        get { securities.now }
        set {
            guard newValue != security else { return }
            let wasEncrypted = security.isEncrypted
            if wasEncrypted, !newValue.isEncrypted { kept = record }
            securities.change(to: newValue, at: bearer.moment)
            if !wasEncrypted, newValue.isEncrypted { tellChangesAgain() }
            securityChanged()
        }
    }
    /// Called when a value should go to the client that asks for more security than its link has, at most once for a level
    /// until ``security`` changes: the owner encrypts the link, or asks for it (Core Vol 3 Part C 10.3.1.1). Set before
    /// ``restore(_:)``, which calls it too.
    package var onSecurityNeeded: ((SecurityLevel) -> Void)?
    /// Whether a signature of twelve octets is right for a message, and has not been seen before. Without an answer no signed
    /// write is taken.
    package var verifySignature: ((_ message: PacketBuffer, _ signature: PacketBuffer) -> Bool)?
    /// What the client has chosen, by the handles of the values.
    package internal(set) var configurations: [UInt16: ClientConfiguration] = [:]
    /// What the client has announced (Core Vol 3 Part G 7.2).
    package internal(set) var features: ClientFeatures = []

    weak var server: GATTServer?
    private(set) var securities: SecurityHistory
    var prepared = PreparedWrites()
    var awareness = ChangeAwareness()
    /// Changes that the client is to be told of, and the one that it is being told of.
    var missed = HandleRanges()
    var indicated: ClosedRange<UInt16>?
    /// What being told of a value asks of the link, where that is anything.
    var rules: [UInt16: SubscriptionRule] = [:]
    /// Choices from an earlier connection that the link is not secure enough for yet.
    var unserved: Set<UInt16> = []
    /// Values about which the client has chosen in this session.
    var chosen: Set<UInt16> = []
    var askedSecurity = SecurityLevel.none
    /// Values about which the client, or somebody in its name, has last chosen in the clear.
    var chosenInTheClear: Set<UInt16> = []
    /// What has been announced over an encrypted link.
    var provenFeatures: ClientFeatures = []
    /// What is remembered of a bonded client, without anything that came in the clear.
    var kept: ClientRecord?
    private var preparedTimer: ScheduledTask?
    private var recordTimer: ScheduledTask?
    private var toldRecord: ClientRecord?
    private var lastRecord: ClientRecord?

    init(server: GATTServer, bearer: ATTBearer, security: LinkSecurity) {
        self.server = server
        self.bearer = bearer
        // What has arrived before anybody told how the link is protected counts as clear.
        securities = SecurityHistory(security, before: security.inTheClear, until: bearer.moment)
        add(bearer)
    }

    var database: GATTDatabase? { server?.database }

    func end() {
        bearers.forEach(Self.release)
        bearers = []
        forgetPreparedWrites()
        if recordTimer != nil { tellRecord() }
        lastRecord = record
        onSecurityNeeded = nil
        verifySignature = nil
        let ended = configurations.filter { !unserved.contains($0.key) }.sorted { $0.key < $1.key }
        configurations = [:]
        for (handle, old) in ended { report(handle, from: old, to: []) }
        server = nil
    }

    func report(_ handle: UInt16, from old: ClientConfiguration, to new: ClientConfiguration) {
        guard let server, old != new else { return }
        server.delegate?.server(server, session: self, didConfigure: handle, from: old, to: new)
    }
}

// MARK: - Bearers

extension GATTServerSession {
    /// Serves the client on one more bearer, whose server callbacks the session takes over. Call ``remove(_:)`` when
    /// it is closed.
    ///
    /// - Returns: false when the client has as many as it may have.
    @discardableResult
    package func add(_ bearer: ATTBearer) -> Bool {
        guard bearers.count < Self.maximumBearers else { return false }
        bearers.append(bearer)
        bearer.onRequest = { [weak self] pdu, reply in self?.serve(pdu, reply) }
        bearer.onCommand = { [weak self] pdu, moment in self?.serve(command: pdu, at: moment) }
        bearer.onNotificationRoom = { [weak self] in self?.hasRoom() }
        return true
    }

    /// One of several bearers is closed. What was prepared on it stays prepared as long as there is another (Core Vol 3
    /// Part F 3.4.6.1).
    package func remove(_ bearer: ATTBearer) {
        bearers.removeAll { $0 === bearer }
        Self.release(bearer)
        awareness.bearerIsGone(ObjectIdentifier(bearer))
        if bearers.isEmpty { forgetPreparedWrites() }
    }

    private static func release(_ bearer: ATTBearer) {
        bearer.onRequest = nil
        bearer.onCommand = nil
        bearer.onNotificationRoom = nil
    }

    /// Whether nothing can reach the client any more.
    package var isClosed: Bool { bearers.allSatisfy { $0.closure != nil } }

    /// Where values go: the first bearer that is open.
    var valueBearer: ATTBearer { bearers.first { $0.closure == nil } ?? bearer }

    var hasOneBearer: Bool { bearers.count == 1 }
}

// MARK: - Prepared writes

extension GATTServerSession {
    /// Takes everything that was prepared.
    func takePreparedWrites() -> [PreparedWrites.Part] {
        if let preparedTimer { bearer.loop.cancel(preparedTimer) }
        return prepared.takeAll()
    }

    func forgetPreparedWrites() {
        _ = takePreparedWrites()
    }

    /// AB-A01: a queue that is not executed is forgotten some time after the last part.
    func watchPreparedWrites() {
        if let preparedTimer { bearer.loop.cancel(preparedTimer) }
        preparedTimer = bearer.loop.schedule(after: PreparedWrites.timeout) { [weak self] in self?.prepared.expire() }
    }
}

// MARK: - The record

extension GATTServerSession {
    /// Whether the client is known to be who it says it is. A bonded one shows it by encrypting the link; before that it may be
    /// anybody with its address (AB-A10).
    var isProven: Bool { security.isEncrypted || !security.hasKey }

    /// What is to be remembered if the client is bonded. After the session's end, what it was then. A client that has not
    /// shown that it is the bonded one changes nothing of it; nor does what has come in the clear, whoever encrypts the link
    /// afterwards (AB-L08). It holds as long as the link. A client that has no bond yet takes its choices into it.
    package var record: ClientRecord {
        if let lastRecord { return lastRecord }
        guard isProven else { return kept ?? ClientRecord(databaseHash: database?.hash) }
        var record = ClientRecord(
            configurations: configurations,
            features: features,
            databaseHash: database?.hash,
            isChangeAware: awareness.isAware
        )
        record.missed = missed
        if let indicated { record.missed.insert(indicated) }
        guard let kept, security.hasKey else { return record }
        for handle in chosenInTheClear { record.configurations[handle] = kept.configurations[handle] }
        record.features = kept.features.union(provenFeatures)
        return record
    }

    /// Takes up what a bonded client was when it left, at any time in the session once it is known which client this is.
    /// What it has chosen since it came counts more on this link. The delegate hears of its choices as soon as the link is as secure as
    /// they ask for, and the client of what has changed since.
    package func restore(_ record: ClientRecord) {
        guard let server else { return }
        toldRecord = record
        let record = server.upToDate(record)
        kept = record
        features.formUnion(record.features)
        if !record.isChangeAware { awareness.databaseChanged() }
        for (handle, choice) in record.configurations.sorted(by: { $0.key < $1.key }) where !chosen.contains(handle) {
            configure(handle, choice)
        }
        if tellsChanges { record.missed.ranges.forEach { missed.insert($0) } }
        indicateChange()
        let asked = unserved.map { rules[$0]?.requirement(of: configurations[$0] ?? []) ?? .none }
        askForSecurity(asked.reduce(.none) { $0.joined(with: $1) })
    }

    /// AB-A11: however often a client changes its choices, the delegate is told at a bounded rate.
    func recordChanged() {
        guard recordTimer == nil else { return }
        recordTimer = bearer.loop.schedule(after: Self.recordInterval) { [weak self] in
            self?.recordTimer = nil
            self?.tellRecord()
        }
    }

    private func tellRecord() {
        let record = record
        guard let server, record != toldRecord else { return }
        toldRecord = record
        server.delegate?.server(server, didChangeRecordOf: self)
    }
}
