import ATT
import BluetoothTypes
import EventLoops
import L2CAP

/// A server's session with one client.
///
/// A client is a link with all its bearers, which share configurations, features, change awareness, security and
/// prepared writes (Core Vol 3 Part G 3.3.3.3 and Part F 3.4.6). The MTU, the order of requests and the queued
/// indications belong to each bearer. Values go over the first open bearer, so that they arrive in order and only one
/// indication to the client is outstanding (Part F 3.4.7.2).
package final class GATTServerSession {
    /// The maximum number of bearers of a client: the fixed channel, and three times as many enhanced bearers as one
    /// request may open (Core Vol 3 Part A 4.25).
    package static let maximumBearers = 16
    /// The interval in which changes of a client's record are collected before the delegate is called (AB-A11).
    package static let recordInterval = Duration.seconds(1)

    /// The client's first bearer, on the fixed channel.
    package let bearer: ATTBearer
    /// The open bearers, the first one first.
    package private(set) var bearers: [ATTBearer] = []
    /// The security of the link. Data that arrived before its last change is also judged by the security at that time.
    package var linkSecurity: LinkSecurity { history.linkSecurity }
    /// Called when a value to be sent to the client requires more security than the link has, at most once per level
    /// until ``linkSecurity`` changes.
    ///
    /// The owner encrypts the link or requests encryption (Core Vol 3 Part C 10.3.1.1). Set this before calling
    /// ``restore(_:)``, which may call it too.
    package var onSecurityNeeded: ((SecurityLevel) -> Void)?
    /// Verifies a signature of twelve octets over a message, including that it is not a replay. If nil, signed writes
    /// are ignored.
    package var verifySignature: ((_ message: PacketBuffer, _ signature: PacketBuffer) -> Bool)?
    /// The client's configurations, keyed by the handle of the value.
    package internal(set) var configurations: [UInt16: ClientConfiguration] = [:]
    /// The features that the client has announced (Core Vol 3 Part G 7.2).
    package internal(set) var features: ClientFeatures = []

    weak var server: GATTServer?
    var prepared = PreparedWrites()
    var awareness = ChangeAwareness()
    /// The changes still to be indicated; the one being indicated is in `indicated`.
    var missed = HandleRanges()
    var indicated: ClosedRange<UInt16>?
    /// The rules of configured values that require any security.
    var rules: [UInt16: SubscriptionRule] = [:]
    /// Subscriptions for which the link is not secure enough yet.
    var unserved: Set<UInt16> = []
    /// Values that the client has configured in this session.
    var chosen: Set<UInt16> = []
    var askedSecurity = SecurityLevel.none
    /// Values whose last configuration arrived in the clear, and may come from an impostor.
    var chosenInTheClear: Set<UInt16> = []
    /// The features announced over an encrypted link.
    var provenFeatures: ClientFeatures = []
    /// The record of a bonded client without anything that arrived in the clear.
    var kept: ClientRecord?
    private var preparedTimer: ScheduledTask?
    private var recordTimer: ScheduledTask?
    private var toldRecord: ClientRecord?
    private var lastRecord: ClientRecord?

    init(server: GATTServer, bearer: ATTBearer) {
        self.server = server
        self.bearer = bearer
        add(bearer)
    }

    /// The security of the link at each of its moments.
    var history: LinkHistory { bearer.history }

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
    /// Adds a bearer of the client and replaces its server callbacks. Call ``remove(_:)`` when it has closed.
    ///
    /// - Returns: False if the client has reached ``maximumBearers``.
    @discardableResult
    package func add(_ bearer: ATTBearer) -> Bool {
        guard bearers.count < Self.maximumBearers else { return false }
        bearers.append(bearer)
        bearer.onRequest = { [weak self] pdu, reply in self?.serve(pdu, reply) }
        bearer.onCommand = { [weak self] pdu, moment in self?.serve(command: pdu, at: moment) }
        bearer.onNotificationRoom = { [weak self] in self?.hasRoom() }
        return true
    }

    /// Removes a closed bearer. Writes prepared on it remain prepared while the client has another bearer (Core Vol 3
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

    /// Whether all bearers of the client are closed.
    package var isClosed: Bool { bearers.allSatisfy { $0.closure != nil } }

    /// The bearer for values: the first open one.
    var valueBearer: ATTBearer { bearers.first { $0.closure == nil } ?? bearer }

    var hasOneBearer: Bool { bearers.count == 1 }
}

// MARK: - Prepared writes

extension GATTServerSession {
    /// Removes and returns all prepared writes.
    func takePreparedWrites() -> [PreparedWrites.Part] {
        if let preparedTimer { bearer.loop.cancel(preparedTimer) }
        return prepared.takeAll()
    }

    func forgetPreparedWrites() {
        _ = takePreparedWrites()
    }

    /// AB-A01: discards prepared writes that are not executed within a time-out after the last part.
    func watchPreparedWrites() {
        if let preparedTimer { bearer.loop.cancel(preparedTimer) }
        preparedTimer = bearer.loop.schedule(after: PreparedWrites.timeout) { [weak self] in self?.prepared.expire() }
    }
}

// MARK: - Client record

extension GATTServerSession {
    /// Whether a link with this security proves the client's identity. A bonded client proves it by encrypting the
    /// link; before that, any device may be using its address (AB-A10).
    private func isProven(over linkSecurity: LinkSecurity) -> Bool { linkSecurity.isEncrypted || !linkSecurity.hasKey }

    /// The record to store if the client is bonded. After the end of the session it stays as it was then.
    ///
    /// A client that has not proven its identity cannot change the record. Configurations that arrive in the clear are
    /// valid for this link, but do not enter the record of a bonded client, even if the link is encrypted later
    /// (AB-L08). For a client without a bond the record contains everything, ready for a new bond.
    package var record: ClientRecord {
        lastRecord ?? record(over: linkSecurity)
    }

    /// The record of a client whose link has this security.
    private func record(over linkSecurity: LinkSecurity) -> ClientRecord {
        guard isProven(over: linkSecurity) else { return kept ?? ClientRecord(databaseHash: database?.hash) }
        var record = ClientRecord(
            configurations: configurations,
            features: features,
            databaseHash: database?.hash,
            isChangeAware: awareness.isAware
        )
        record.missed = missed
        if let indicated { record.missed.insert(indicated) }
        guard let kept, linkSecurity.hasKey else { return record }
        for handle in chosenInTheClear { record.configurations[handle] = kept.configurations[handle] }
        record.features = kept.features.union(provenFeatures)
        return record
    }

    /// Restores the record of a bonded client. Call this at any time in the session once the client is identified.
    ///
    /// Configurations made earlier in this session take precedence. The delegate is notified of restored subscriptions
    /// when the link is as secure as they require, and the missed changes are indicated to the client.
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

    /// Keeps the record of a client that can no longer prove its identity, because its link has lost its encryption.
    func keepProven(over linkSecurity: LinkSecurity) {
        kept = record(over: linkSecurity)
    }

    /// AB-A11: limits the rate of record reports, however often a client changes its configurations.
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
