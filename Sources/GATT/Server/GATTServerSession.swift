import ATT
import BluetoothTypes

/// One client of the server: what it has chosen, prepared and been told.
///
/// A client is a link, whatever bearers it has: choices, features, knowledge of changes, security and prepared writes
/// are shared by them (Core Vol 3 Part G 3.3.3.3 and Part F 3.4.6); MTU, the order of requests and indications that wait
/// belong to each bearer. Values go over the first bearer that is open, so that they arrive in order and one indication
/// at a time is under way to the client (Part F 3.4.7.2).
public final class GATTServerSession {
    /// Whether a client that asked for robust caching knows of the last change (Core Vol 3 Part G 2.5.2.1).
    enum Awareness {
        case aware
        /// Its next request is refused.
        case unaware
        /// It was refused once; its next request makes it aware.
        case refused
    }

    /// The client's first bearer: the one on the fixed channel.
    public let bearer: ATTBearer
    /// The bearers that are open, the first one first. Several more than ``maximumBearers`` are not taken.
    public private(set) var bearers: [ATTBearer]
    /// The security of its link, kept up to date by the owner.
    public var security: LinkSecurity
    /// What the client has chosen, by the handles of the values.
    public private(set) var configurations: [UInt16: ClientConfiguration]

    weak var server: GATTServer?
    var prepared = PreparedWrites()
    private(set) var clientFeatures: UInt8 = 0
    private var awareness = Awareness.aware
    private var pendingChange: ClosedRange<UInt16>?
    private var isIndicatingChange = false

    /// Most bearers of a client: the fixed channel, and as many enhanced ones as one request may open (Core Vol 3 Part A
    /// 4.25) three times over.
    public static let maximumBearers = 16

    private static let robustCaching: UInt8 = 0x01
    private static let knownFeatures: UInt8 = 0x07

    init(
        server: GATTServer,
        bearer: ATTBearer,
        security: LinkSecurity,
        configurations: [UInt16: ClientConfiguration]
    ) {
        self.server = server
        self.bearer = bearer
        bearers = []
        self.security = security
        self.configurations = configurations
        add(bearer)
    }

    /// Serves the client on one more bearer, whose server callbacks the session takes over. Call ``remove(_:)`` when
    /// it is closed.
    ///
    /// - Returns: false when the client has as many as it may have.
    @discardableResult
    public func add(_ bearer: ATTBearer) -> Bool {
        guard bearers.count < Self.maximumBearers else { return false }
        bearers.append(bearer)
        bearer.onRequest = { [weak self] pdu, reply in self?.serve(pdu, reply) }
        bearer.onCommand = { [weak self] pdu in self?.serve(command: pdu) }
        bearer.onNotificationRoom = { [weak self] in self?.hasRoom() }
        return true
    }

    /// One of several bearers is closed. What was prepared on it stays prepared as long as there is another (Core Vol 3
    /// Part F 3.4.6.1).
    public func remove(_ bearer: ATTBearer) {
        bearers.removeAll { $0 === bearer }
        Self.release(bearer)
        if bearers.isEmpty { _ = prepared.takeAll() }
    }

    private static func release(_ bearer: ATTBearer) {
        bearer.onRequest = nil
        bearer.onCommand = nil
        bearer.onNotificationRoom = nil
    }

    /// Where values go: the first bearer that is open.
    var valueBearer: ATTBearer { bearers.first { $0.closure == nil } ?? bearer }

    /// Whether nothing can reach the client any more.
    public var isClosed: Bool { bearers.allSatisfy { $0.closure != nil } }

    var database: GATTDatabase? { server?.database }

    func end() {
        bearers.forEach(Self.release)
        bearers = []
        _ = prepared.takeAll()
        pendingChange = nil
        let ended = configurations.sorted { $0.key < $1.key }
        configurations = [:]
        for (handle, old) in ended { report(handle, from: old, to: []) }
        server = nil
    }

    private func report(_ handle: UInt16, from old: ClientConfiguration, to new: ClientConfiguration) {
        guard let server, old != new else { return }
        server.delegate?.server(server, session: self, didConfigure: handle, from: old, to: new)
    }
}

// MARK: - Values

extension GATTServerSession {
    /// Whether the client is to be told of the value at `handle`.
    public func wants(_ handle: UInt16) -> Bool {
        guard let configuration = configurations[handle], !configuration.isEmpty else { return false }
        return awareness == .aware
    }

    /// Sends a value as the client chose; the client decides (behaviour 7.45), and notifications go first when it
    /// chose both.
    func push(_ value: consuming PacketBuffer, of handle: UInt16) {
        if configurations[handle]?.contains(.notify) == true {
            _ = valueBearer.notify(value, of: handle)
        } else {
            _ = valueBearer.indicate(value, of: handle) { _ in }
        }
    }

    private func hasRoom() {
        indicateChange()
        guard let server else { return }
        server.delegate?.server(server, isReadyToUpdate: self)
    }
}

// MARK: - What the client writes about itself

extension GATTServerSession {
    /// The client's own value of an attribute that is different for each client.
    func ownValue(_ source: Attribute.Source) -> PacketBuffer? {
        switch source {
        case .fixed(let value): return value
        case .asked: return nil
        case .clientFeatures: return [clientFeatures]
        case .configuration(let handle, _):
            let raw = configurations[handle, default: []].rawValue
            return [UInt8(truncatingIfNeeded: raw), UInt8(raw >> 8)]
        }
    }

    /// Why the client's own value cannot be `value`; nil when it can.
    func refusal(of value: PacketBuffer, for source: Attribute.Source) -> ATTErrorCode? {
        switch source {
        case .fixed: return .writeNotPermitted
        case .asked: return nil
        case .clientFeatures:
            guard let octet = value.first else { return .invalidAttributeValueLength }
            // A feature that was announced stays (Core Vol 3 Part G 7.2).
            return clientFeatures & ~octet == 0 ? nil : .valueNotAllowed
        case .configuration(_, let choices):
            guard let wanted = Self.configuration(value) else { return .invalidAttributeValueLength }
            return choices.isSuperset(of: wanted) ? nil : .improperlyConfigured
        }
    }

    /// Sets the client's own value, which was not refused.
    func setOwnValue(_ value: PacketBuffer, for source: Attribute.Source) {
        switch source {
        case .fixed, .asked: break
        case .clientFeatures: clientFeatures = (value.first ?? 0) & Self.knownFeatures
        case .configuration(let handle, _):
            let new = Self.configuration(value) ?? []
            let old = configurations.updateValue(new, forKey: handle) ?? []
            if new.isEmpty { configurations[handle] = nil }
            report(handle, from: old, to: new)
        }
    }

    /// Reserved bits are not looked at (AB-A11).
    private static func configuration(_ value: PacketBuffer) -> ClientConfiguration? {
        guard value.count == 2 else { return nil }
        return ClientConfiguration(rawValue: UInt16(value[0]) & 0x03)
    }
}

// MARK: - Changes of the database

extension GATTServerSession {
    func databaseChanged(_ handles: ClosedRange<UInt16>) {
        configurations = configurations.filter { !handles.contains($0.key) }
        if clientFeatures & Self.robustCaching != 0 { awareness = .unaware }
        announceChange(handles)
    }

    /// Tells the client that nothing may be believed of `handles`, if it has asked for that. For changes while the
    /// client is connected this is done by itself; call it when a bonded client comes back after one (Core Vol 3 Part G
    /// 2.5.2).
    public func announceChange(_ handles: ClosedRange<UInt16>) {
        guard let handle = server?.serviceChanged, configurations[handle]?.contains(.indicate) == true else { return }
        let before = pendingChange ?? handles
        pendingChange =
            min(before.lowerBound, handles.lowerBound)...max(before.upperBound, handles.upperBound)
        indicateChange()
    }

    /// One indication at a time; changes meanwhile become one range (Core Vol 3 Part G 7.1).
    private func indicateChange() {
        guard !isIndicatingChange, let range = pendingChange, let handle = server?.serviceChanged else { return }
        var value = PacketBuffer(capacity: 4)
        value.append(integer: range.lowerBound)
        value.append(integer: range.upperBound)
        isIndicatingChange = valueBearer.indicate(value, of: handle) { [weak self] result in
            guard let self else { return }
            isIndicatingChange = false
            guard case .success = result else { return }
            if pendingChange == nil { awareness = .aware }
            indicateChange()
        }
        if isIndicatingChange { pendingChange = nil }
    }

    /// Whether a request that names handles is to be refused because the client may have old ones.
    func refusesHandles() -> Bool {
        switch awareness {
        case .aware: return false
        case .unaware:
            awareness = .refused
            return true
        case .refused:
            awareness = .aware
            return false
        }
    }

    /// A command that names handles is ignored as long as the client may have old ones.
    var ignoresCommands: Bool { awareness != .aware }
}
