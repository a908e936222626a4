import BluetoothTypes
import HCI
import HCIHost
import L2CAP
import Privacy

/// How to look for peers to connect to, and what new connections are like.
package struct ConnectionSettings: Hashable, Sendable {
    /// From one time of listening to the next, in units of 625 µs, 4 to 16,384.
    package var scanInterval: UInt16 = 96
    /// How long the radio listens each time, in units of 625 µs, 4 to ``scanInterval``.
    package var scanWindow: UInt16 = 48
    /// The first connection parameters.
    package var parameters: ConnectionParameters
    /// Where to look: 1M, Coded, or both. Without extended advertising only on 1M.
    package var phys: LEPHYs = .le1M

    /// Half of the time, on 1M.
    package init(parameters: ConnectionParameters) {
        self.parameters = parameters
    }

    /// What the specification proposes: an interval of 30 to 50 ms (TGAP(initial_conn_interval), Core Vol 3 Part C Appendix
    /// A), no latency, and a supervision timeout of 4 s.
    package static let specification = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 40, latency: 0, timeout: 400)
    )
}

extension ConnectionSettings {
    /// The PHYs that a connection request names to a controller: those to listen on, and 2M, on which a connection can begin.
    func phys(for controller: ControllerInformation) -> LEPHYs {
        var phys = controller.leFeatures.contains(.phyCoded) ? self.phys : .le1M
        let has2M = controller.leFeatures.contains(.phy2M) && !controller.fallbacks.contains(.no2MInitiating)
        if has2M { phys.insert(.le2M) }
        return phys
    }
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

    /// Where the advertiser's second packet says so the connection begins on 2M (behaviour 3.36); with a controller that refuses
    /// parameters for 2M it takes those for 1M.
    func extendedCommand(_ phys: LEPHYs) -> LEExtendedCreateConnection {
        LEExtendedCreateConnection(
            filterPolicy: policy,
            ownAddressKind: ownAddress.kind,
            peerAddress: peer,
            le1M: phys.contains(.le1M) ? phy : nil,
            le2M: phys.contains(.le2M) ? phy : nil,
            coded: phys.contains(.coded) ? phy : nil
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
