import BluetoothTypes
import HCI
import L2CAP

/// How to look for peers to connect to, and what new connections are like.
public struct ConnectionSettings: Hashable, Sendable {
    /// From one time of listening to the next, in units of 625 µs, 4 to 16,384.
    public var scanInterval: UInt16 = 96
    /// How long the radio listens each time, in units of 625 µs, 4 to ``scanInterval``.
    public var scanWindow: UInt16 = 48
    /// The first connection parameters.
    public var parameters: ConnectionParameters
    /// Where to look: 1M, Coded, or both. Without extended advertising only on 1M.
    public var phys: LEPHYs = .le1M

    /// Half of the time, on 1M.
    public init(parameters: ConnectionParameters) {
        self.parameters = parameters
    }

    /// What the specification proposes: an interval of 30 to 50 ms (TGAP(initial_conn_interval), Core Vol 3 Part C Appendix
    /// A), no latency, and a supervision timeout of 4 s.
    public static let specification = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 40, latency: 0, timeout: 400)
    )

    /// What Apple's centrals do: an interval of 30 ms, no latency, a supervision timeout of 720 ms (behaviour 3.26).
    public static let apple = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 24, latency: 0, timeout: 72)
    )
}

/// One attempt to connect, as a command (Core Vol 4 Part E 7.8.12, 7.8.66).
struct ConnectionAttempt {
    let policy: LEInitiatorFilterPolicy
    let peer: BluetoothAddress
    let ownAddress: OwnAddress
    let settings: ConnectionSettings

    var legacyCommand: LECreateConnection {
        LECreateConnection(
            scanInterval: settings.scanInterval,
            scanWindow: settings.scanWindow,
            filterPolicy: policy,
            peerAddress: peer,
            ownAddressKind: ownAddress.kind,
            intervalMin: settings.parameters.intervalMinimum,
            intervalMax: settings.parameters.intervalMaximum,
            maxLatency: settings.parameters.latency,
            supervisionTimeout: settings.parameters.timeout,
            minCELength: 0,
            maxCELength: 0
        )
    }

    /// Where the advertiser's second packet says so the connection begins on 2M (behaviour 3.36).
    func extendedCommand(_ features: LEFeatures) -> LEExtendedCreateConnection {
        LEExtendedCreateConnection(
            filterPolicy: policy,
            ownAddressKind: ownAddress.kind,
            peerAddress: peer,
            le1M: settings.phys.contains(.le1M) ? phy : nil,
            le2M: features.contains(.phy2M) ? phy : nil,
            coded: settings.phys.contains(.coded) ? phy : nil
        )
    }

    private var phy: PHYConnectionParameters {
        PHYConnectionParameters(
            scanInterval: settings.scanInterval,
            scanWindow: settings.scanWindow,
            intervalMin: settings.parameters.intervalMinimum,
            intervalMax: settings.parameters.intervalMaximum,
            maxLatency: settings.parameters.latency,
            supervisionTimeout: settings.parameters.timeout,
            minCELength: 0,
            maxCELength: 0
        )
    }
}
