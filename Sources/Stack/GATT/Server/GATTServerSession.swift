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
    package var configurations: [UInt16: ClientConfiguration] { subscriptions.configurations }
    /// The features that the client has announced, which it cannot take back (Core Vol 3 Part G 7.2).
    package private(set) var features: ClientFeatures = []

    private(set) weak var server: GATTServer?
    private(set) var subscriptions = ClientSubscriptions()
    private(set) var prepared = PreparedWrites()
    /// The features announced over an encrypted link.
    private var provenFeatures: ClientFeatures = []
    private var awareness = ChangeAwareness()
    /// The changes still to be indicated; the one being indicated is in `indicated`.
    private var missed = HandleRanges()
    private var indicated: ClosedRange<UInt16>?
    private var askedSecurity = SecurityLevel.none
    /// The record of a bonded client without anything that arrived in the clear.
    private var kept: ClientRecord?
    private var preparedTimer: ScheduledTask?
    private var recordTimer: ScheduledTask?
    private var reportedRecord: ClientRecord?
    private var lastRecord: ClientRecord?

    init(server: GATTServer, bearer: ATTBearer) {
        self.server = server
        self.bearer = bearer
        add(bearer)
    }

    var history: LinkHistory { bearer.history }

    var database: GATTDatabase? { server?.database }

    func end() {
        bearers.forEach(Self.release)
        bearers = []
        takePreparedWrites()
        if let recordTimer {
            bearer.loop.cancel(recordTimer)
            self.recordTimer = nil
            reportRecord()
        }
        lastRecord = record
        onSecurityNeeded = nil
        verifySignature = nil
        for (handle, old) in subscriptions.end() { report(handle, from: old, to: []) }
        server = nil
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        guard bearers.count <= Self.maximumBearers else { return "too many bearers" }
        guard preparedTimer == nil || !prepared.parts.isEmpty else { return "a timer runs for no prepared write" }
        guard server == nil else { return nil }
        let isEmpty = bearers.isEmpty && configurations.isEmpty && prepared.parts.isEmpty && recordTimer == nil
        return isEmpty ? nil : "a session that has ended has bearers, configurations, prepared writes or a timer"
    }

    private func report(_ handle: UInt16, from old: ClientConfiguration, to new: ClientConfiguration) {
        guard let server, old != new else { return }
        server.delegate?.server(server, session: self, didConfigure: handle, from: old, to: new)
    }
}

// MARK: - Bearers

extension GATTServerSession {
    /// Adds a bearer of the client and replaces its server callbacks. Call ``remove(_:)`` when it has closed. Returns
    /// false if the client has reached ``maximumBearers``.
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
        awareness.bearerClosed(ObjectIdentifier(bearer))
        if bearers.isEmpty { takePreparedWrites() }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private static func release(_ bearer: ATTBearer) {
        bearer.onRequest = nil
        bearer.onCommand = nil
        bearer.onNotificationRoom = nil
    }

    package var isClosed: Bool { bearers.allSatisfy { $0.closure != nil } }

    /// The bearer for values: the first open one.
    var valueBearer: ATTBearer { bearers.first { $0.closure == nil } ?? bearer }

    var hasOneBearer: Bool { bearers.count == 1 }
}

// MARK: - Prepared writes

extension GATTServerSession {
    /// Adds a part to the prepared writes, or returns an error if the quota is used up.
    func prepare(_ request: ATTPrepareWriteRequest, at moment: LinkMoment) -> ATTErrorCode? {
        prepared.add(request, at: moment)
    }

    func takeExpiry() -> Bool { prepared.takeExpiry() }

    @discardableResult
    func takePreparedWrites() -> [PreparedWrites.Part] {
        if let preparedTimer = preparedTimer.take() { bearer.loop.cancel(preparedTimer) }
        return prepared.takeAll()
    }

    /// AB-A01: discards prepared writes that are not executed within a time-out after the last part.
    func watchPreparedWrites() {
        if let preparedTimer = preparedTimer.take() { bearer.loop.cancel(preparedTimer) }
        preparedTimer = bearer.loop.schedule(after: PreparedWrites.timeout) { [weak self] in
            self?.preparedTimer = nil
            self?.prepared.expire()
        }
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
        subscriptions.replaceUnproven(in: &record, by: kept)
        record.features = kept.features.union(provenFeatures)
        return record
    }

    /// Restores the record of a bonded client. Call this at any time in the session once the client is identified.
    ///
    /// Configurations made earlier in this session take precedence. The delegate is notified of restored subscriptions
    /// when the link is as secure as they require, and the missed changes are indicated to the client.
    package func restore(_ record: ClientRecord) {
        guard let server else { return }
        reportedRecord = record
        let record = server.upToDate(record)
        kept = record
        features.formUnion(record.features)
        if !record.isChangeAware { awareness.databaseChanged() }
        let restored = record.configurations.filter { !subscriptions.isChosen($0.key) }
        for (handle, choice) in restored.sorted(by: { $0.key < $1.key }) { configure(handle, choice) }
        if indicatesChanges { record.missed.ranges.forEach { missed.insert($0) } }
        indicateChange()
        askForSecurity(subscriptions.neededSecurity)
    }

    /// AB-A11: limits the rate of record reports, however often a client changes its configurations.
    private func recordChanged() {
        guard recordTimer == nil else { return }
        recordTimer = bearer.loop.schedule(after: Self.recordInterval) { [weak self] in
            self?.recordTimer = nil
            self?.reportRecord()
        }
    }

    private func reportRecord() {
        let record = record
        guard let server, record != reportedRecord else { return }
        reportedRecord = record
        server.delegate?.server(server, didChangeRecordOf: self)
    }
}

// MARK: - Security

extension GATTServerSession {
    /// Asks for more security if the client has subscribed to a value for which its link is not secure enough.
    func askForSecurity(toSend handle: UInt16) {
        if let needed = subscriptions.lacking(toSend: handle, over: linkSecurity) { askForSecurity(needed) }
    }

    private func askForSecurity(_ requirement: SecurityLevel) {
        guard !askedSecurity.includes(requirement) else { return }
        askedSecurity = askedSecurity.joined(with: requirement)
        onSecurityNeeded?(linkSecurity.isSecureConnectionsOnly ? .secureConnections : requirement)
    }

    /// Called by the owner when ``linkSecurity`` has changed: evaluates the client's subscriptions again.
    package func linkSecurityChanged(from old: LinkSecurity) {
        // A client whose link has lost its encryption can no longer prove its identity.
        if old.isEncrypted, !linkSecurity.isEncrypted { kept = record(over: old) }
        if !old.isEncrypted, linkSecurity.isEncrypted { indicateChangesAgain() }
        askedSecurity = .none
        for handle in subscriptions.unserved {
            if let choice = subscriptions.serve(handle, over: linkSecurity) { report(handle, from: [], to: choice) }
        }
        recordChanged()
    }
}

// MARK: - Per-client values

extension GATTServerSession {
    /// The value of an attribute that the database or this session stores; nil if the delegate has it.
    func ownValue(_ source: Attribute.Source) -> PacketBuffer? {
        switch source {
        case .fixed(let value): return value
        case .asked: return nil
        case .clientFeatures: return [features.rawValue]
        case .databaseHash: return PacketBuffer(database?.hash.octets ?? [])
        case .configuration(let handle, _):
            let raw = configurations[handle, default: []].rawValue
            return [UInt8(truncatingIfNeeded: raw), 0]
        }
    }

    /// The reason why the client's own value cannot become `value`, which arrived over a link with this security; nil
    /// if it can.
    func refusal(
        of value: PacketBuffer,
        for source: Attribute.Source,
        over linkSecurity: LinkSecurity
    ) -> ATTErrorCode? {
        switch source {
        case .fixed, .databaseHash: return .writeNotPermitted
        case .asked: return nil
        case .clientFeatures:
            guard !value.isEmpty else { return .invalidAttributeValueLength }
            // A feature remains announced (Core Vol 3 Part G 7.2).
            return ClientFeatures(announced: value).isSuperset(of: features) ? nil : .valueNotAllowed
        case .configuration(let handle, let rule):
            guard let wanted = Self.configuration(value) else { return .invalidAttributeValueLength }
            guard rule.choices.isSuperset(of: wanted) else { return .improperlyConfigured }
            // Unsubscribing requires as much security as subscribing.
            return linkSecurity.attributeRefusal(of: rule.requirement(of: wanted.union(configurations[handle] ?? [])))
        }
    }

    /// Sets the client's own value, which was accepted and began to arrive at `moment`.
    func setOwnValue(_ value: PacketBuffer, for source: Attribute.Source, since moment: LinkMoment) {
        let isEncrypted = history.linkSecurity(since: moment).isEncrypted
        switch source {
        case .fixed, .asked, .databaseHash: break
        case .clientFeatures:
            features = ClientFeatures(announced: value)
            if isEncrypted { provenFeatures = features }
            recordChanged()
        case .configuration(let handle, _):
            let old = configurations[handle, default: []]
            let new = Self.configuration(value) ?? []
            let isRepeated = subscriptions.choose(handle, isProven: isEncrypted)
            configure(handle, new)
            if old != new || isRepeated { recordChanged() }
        }
    }

    /// Applies a configuration of the value at `handle`, and reports it once the link is as secure as it requires.
    private func configure(_ handle: UInt16, _ new: ClientConfiguration) {
        let rule = database?.subscriptionRule(of: handle)
        let (old, served) = subscriptions.configure(handle, new, rule, over: linkSecurity)
        report(handle, from: old, to: served)
    }

    /// Decodes a configuration. Reserved bits are ignored (AB-A11).
    private static func configuration(_ value: PacketBuffer) -> ClientConfiguration? {
        guard value.count == 2 else { return nil }
        return ClientConfiguration(rawValue: UInt16(value[0]) & 0x03)
    }
}

// MARK: - Service Changed

extension GATTServerSession {
    private var indicatesChanges: Bool {
        guard let handle = server?.serviceChanged else { return false }
        return configurations[handle]?.contains(.indicate) == true
    }

    func databaseChanged(_ handles: ClosedRange<UInt16>) {
        subscriptions.databaseChanged(handles)
        if let database { kept?.databaseChanged(handles, hash: database.hash) }
        prepared.invalidate(handles)
        awareness.databaseChanged()
        recordChanged()
        guard indicatesChanges else { return }
        missed.insert(handles)
        indicateChange()
    }

    /// Indicates the next change. Only one indication is outstanding; adjacent changes meanwhile are merged into one
    /// range (Core Vol 3 Part G 7.1).
    private func indicateChange() {
        guard indicated == nil, indicatesChanges, let handle = server?.serviceChanged, let range = missed.popFirst()
        else {
            return
        }
        var value = PacketBuffer(headroom: PacketBuffer.defaultHeadroom)
        value.append(integer: range.lowerBound)
        value.append(integer: range.upperBound)
        indicated = range
        let isTaken = valueBearer.indicate(value, of: handle) { [weak self] in self?.changeIndicated(range, $0) }
        guard !isTaken else { return }
        indicated = nil
        missed.insert(range)
    }

    /// Indicates the missed changes again after the link was encrypted. Before that, an impostor may have confirmed
    /// them or read the hash (AB-L08).
    private func indicateChangesAgain() {
        guard let kept, !kept.isChangeAware else { return }
        awareness.databaseChanged()
        guard indicatesChanges else { return }
        kept.missedChanges.forEach { missed.insert($0) }
        indicateChange()
    }

    private func hasRoom() {
        indicateChange()
        guard let server else { return }
        server.delegate?.server(server, isReadyToUpdate: self)
    }

    private func changeIndicated(_ range: ClosedRange<UInt16>, _ result: Result<Void, ATTBearerError>) {
        indicated = nil
        guard case .success = result else { return missed.insert(range) }
        if missed.isEmpty { awareness.confirmed(isOnlyBearer: hasOneBearer) }
        recordChanged()
        indicateChange()
    }
}

// MARK: - Change-unaware clients

extension GATTServerSession {
    func hashIsRead() { awareness.readHash() }

    /// Whether values and commands are held back: the client has announced robust caching and may hold old handles.
    var isHeldBack: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// The handle at which to refuse a request because the client may hold old handles; nil if the request is served
    /// (Core Vol 3 Part G 2.5.2.1).
    func handleOutOfSync(_ pdu: ATTPDU, _ reply: ATTReply) -> UInt16? {
        guard let bearer = reply.bearer, !awareness.isAware else { return nil }
        let handle = Self.namedHandle(pdu)
        let isRefused = awareness.refuses(
            naming: handle != nil,
            on: ObjectIdentifier(bearer),
            isOnlyBearer: hasOneBearer,
            isRobust: features.contains(.robustCaching)
        )
        if awareness.isAware { recordChanged() }
        return isRefused ? handle : nil
    }

    /// The first handle that a request names, or the start of a range that only a client with knowledge of the database
    /// would use. Nil for discovery requests and for requests that name no handle.
    private static func namedHandle(_ pdu: ATTPDU) -> UInt16? {
        switch pdu {
        case .readByTypeRequest(let request):
            switch request.type {
            case GATTUUID.include, GATTUUID.characteristic: nil
            default: request.range == ATTHandleRange(1, .max) ? nil : request.range.start
            }
        case .readRequest(let request): request.handle
        case .readBlobRequest(let request): request.handle
        case .readMultipleRequest(let request): request.set.handles.first
        case .readMultipleVariableRequest(let request): request.set.handles.first
        case .writeRequest(let request): request.handle
        case .prepareWriteRequest(let request): request.handle
        default: nil
        }
    }
}

// MARK: - Notifications and indications

extension GATTServerSession {
    /// Whether to send the value at `handle` to the client: it has subscribed, its link is secure enough, and it does
    /// not hold old handles.
    package func wants(_ handle: UInt16) -> Bool {
        !ways(of: handle).isEmpty && !isHeldBack
    }

    /// The part of the client's configuration of a value for which its link is secure enough now (Core Vol 3 Part C
    /// 10.3.1.1).
    private func ways(of handle: UInt16) -> ClientConfiguration {
        subscriptions.served(handle, over: linkSecurity)
    }

    /// Sends a value in the way that the client has configured (behaviour 7.45). If it configured both, the value is
    /// notified.
    func push(_ value: consuming PacketBuffer, of handle: UInt16) {
        if ways(of: handle).contains(.notify) {
            _ = valueBearer.notify(value, of: handle, mayJoin: features.contains(.multipleNotifications))
        } else {
            _ = valueBearer.indicate(value, of: handle) { _ in }
        }
    }

    /// Sends several values. Those to be notified are combined if the client supports it.
    func push(_ values: [(handle: UInt16, value: PacketBuffer)]) {
        let wanted = values.filter { wants($0.handle) }
        guard features.contains(.multipleNotifications) else {
            return wanted.forEach { push($0.value, of: $0.handle) }
        }
        valueBearer.notify(wanted.filter { ways(of: $0.handle).contains(.notify) })
        for (handle, value) in wanted where !ways(of: handle).contains(.notify) { push(value, of: handle) }
    }
}
