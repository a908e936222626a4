import Foundation

/// A purpose for which an app, or the system, used the radio.
public enum EnergyUse: Hashable, Sendable {
    /// Scan windows, scan requests and auxiliary packets.
    case scanning
    /// Advertising, and answers to scan requests.
    case advertising
    /// Listening for peers to connect to.
    case connecting
    /// The upkeep of a link to a peer: empty packets, and the listening around them.
    case link(UUID)
    /// Data for an operation of an app with a peer.
    case operation(EnergyOperation, UUID)
    /// Data or control packets for a procedure of the system with a peer.
    case procedure(EnergyProcedure, UUID)
    /// Everything else, such as links to peers that the host never learned of, and uses beyond the ledger's bounds.
    case other

    /// The peer of the use.
    public var peer: UUID? {
        switch self {
        case .link(let peer), .operation(_, let peer), .procedure(_, let peer): peer
        case .scanning, .advertising, .connecting, .other: nil
        }
    }
}

/// An operation of an app on a link.
public enum EnergyOperation: String, Hashable, Sendable, CaseIterable {
    /// Discovery of services, characteristics or descriptors.
    case discovery
    /// Reads of characteristics and descriptors.
    case reading
    /// Writes of characteristics and descriptors, with and without response.
    case writing
    /// Requests to subscribe and unsubscribe.
    case subscribing
    /// Notifications and indications received from the peer.
    case notifications
    /// Notifications and indications sent to the peer.
    case updates
    /// Answers to the peer's requests for published values.
    case serving
    /// Data of L2CAP channels.
    case channels
}

/// A procedure of the system on a link.
public enum EnergyProcedure: String, Hashable, Sendable, CaseIterable {
    /// Control procedures of the link layer: features, PHY, data length, parameters, encryption.
    case linkControl
    /// Pairing and the exchange of keys.
    case pairing
    /// The exchange of the MTU, discovery for the cache, and all other data that no operation of an app explains.
    case exchange
}

/// An app's use of the radio.
public struct EnergyAccount: Hashable, Sendable, Comparable {
    /// The name of the app; nil for the system.
    public var app: String?
    /// The purpose of the use.
    public var use: EnergyUse

    /// Creates the account of an app, or with nil that of the system.
    public init(app: String?, use: EnergyUse) {
        (self.app, self.use) = (app, use)
    }

    /// Orders accounts by app, the system last, and by use.
    public static func < (a: EnergyAccount, b: EnergyAccount) -> Bool {
        if a.app != b.app { return a.app.map { app in b.app.map { app < $0 } ?? true } ?? false }
        return a.use.rank < b.use.rank
    }
}

extension EnergyUse {
    var kind: String {
        switch self {
        case .scanning: "scanning"
        case .advertising: "advertising"
        case .connecting: "connecting"
        case .link: "link"
        case .operation(let operation, _): operation.rawValue
        case .procedure(let procedure, _): procedure.rawValue
        case .other: "other"
        }
    }

    /// A text that orders uses.
    fileprivate var rank: String {
        switch self {
        case .scanning: "0"
        case .advertising: "1"
        case .connecting: "2"
        case .link(let peer): "3 \(peer)"
        case .operation(let operation, let peer): "4 \(peer) \(operation.rawValue)"
        case .procedure(let procedure, let peer): "5 \(peer) \(procedure.rawValue)"
        case .other: "6"
        }
    }

    /// The use for a reader.
    ///
    /// - Parameter name: Returns the name of a peer.
    func words(_ name: (UUID) -> String) -> String {
        switch self {
        case .link(let peer): "link to \(name(peer))"
        case .procedure(.linkControl, let peer): "link control, \(name(peer))"
        case .operation(_, let peer), .procedure(_, let peer): "\(kind), \(name(peer))"
        case .scanning, .advertising, .connecting, .other: kind
        }
    }
}
