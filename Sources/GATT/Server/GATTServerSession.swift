import ATT
import BluetoothTypes

/// One client of the server: what it has chosen, prepared and been told.
public final class GATTServerSession {
    /// Whether a client that asked for robust caching knows of the last change (Core Vol 3 Part G 2.5.2.1).
    enum Awareness {
        case aware
        /// Its next request is refused.
        case unaware
        /// It was refused once; its next request makes it aware.
        case refused
    }

    /// The client's bearer.
    public let bearer: ATTBearer
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
        self.security = security
        self.configurations = configurations
        bearer.onRequest = { [weak self] pdu, reply in self?.serve(pdu, reply) }
        bearer.onCommand = { [weak self] pdu in self?.serve(command: pdu) }
        bearer.onNotificationRoom = { [weak self] in self?.hasRoom() }
    }

    var database: GATTDatabase? { server?.database }

    func end() {
        bearer.onRequest = nil
        bearer.onCommand = nil
        bearer.onNotificationRoom = nil
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
            _ = bearer.notify(value, of: handle)
        } else {
            _ = bearer.indicate(value, of: handle) { _ in }
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
        isIndicatingChange = bearer.indicate(value, of: handle) { [weak self] result in
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
