import BluetoothTypes
import HCI
import HCIHost
import L2CAP
import Security

/// The scan parameters for connecting, and the initial connection parameters.
package struct ConnectionSettings: Hashable, Sendable {
    /// The scan interval, in units of 625 µs, 4 to 16,384.
    package var scanInterval: UInt16 = 96
    /// The scan window, in units of 625 µs, 4 to ``scanInterval``.
    package var scanWindow: UInt16 = 48
    package var parameters: ConnectionParameters
    /// The PHYs to scan on: 1M, Coded, or both. Without extended advertising only 1M.
    package var phys: LEPHYs = .le1M

    /// Creates settings that scan half of the time on 1M.
    package init(parameters: ConnectionParameters) {
        self.parameters = parameters
    }

    /// The values that the specification recommends: an interval of 30 to 50 ms (TGAP(initial_conn_interval), Core Vol
    /// 3 Part C Appendix A), no latency, and a supervision timeout of 4 s.
    package static let specification = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 40, latency: 0, timeout: 400)
    )
}

extension ConnectionSettings {
    /// The PHYs named in a connection request: those to scan on, and 2M, on which a connection can begin.
    func phys(for controller: ControllerInformation) -> LEPHYs {
        var phys = controller.leFeatures.contains(.phyCoded) ? self.phys : .le1M
        let has2M = controller.leFeatures.contains(.phy2M) && !controller.fallbacks.contains(.no2MInitiating)
        if has2M { phys.insert(.le2M) }
        return phys
    }
}

/// The parameters of one connection request (Core Vol 4 Part E 7.8.12, 7.8.66).
struct ConnectionAttempt {
    let policy: LEInitiatorFilterPolicy
    let peer: BluetoothAddress
    let ownAddress: OwnAddress
    let settings: ConnectionSettings

    var legacyCommand: LECreateConnection {
        LECreateConnection {
            $0.scanInterval = settings.scanInterval
            $0.scanWindow = settings.scanWindow
            $0.filterPolicy = policy
            $0.peerAddress = peer
            $0.ownAddressKind = ownAddress.kind
            $0.intervalMin = settings.parameters.intervalMinimum
            $0.intervalMax = settings.parameters.intervalMaximum
            $0.maxLatency = settings.parameters.latency
            $0.supervisionTimeout = settings.parameters.timeout
        }
    }

    /// The extended command. The connection begins on 2M if the advertiser's secondary PHY is 2M (behaviour 3.36). If
    /// the controller refuses parameters for 2M, it uses those for 1M.
    func extendedCommand(_ phys: LEPHYs) -> LEExtendedCreateConnection {
        LEExtendedCreateConnection {
            $0.filterPolicy = policy
            $0.ownAddressKind = ownAddress.kind
            $0.peerAddress = peer
            $0.le1M = phys.contains(.le1M) ? phy : nil
            $0.le2M = phys.contains(.le2M) ? phy : nil
            $0.coded = phys.contains(.coded) ? phy : nil
        }
    }

    private var phy: PHYConnectionParameters {
        PHYConnectionParameters {
            $0.scanInterval = settings.scanInterval
            $0.scanWindow = settings.scanWindow
            $0.intervalMin = settings.parameters.intervalMinimum
            $0.intervalMax = settings.parameters.intervalMaximum
            $0.maxLatency = settings.parameters.latency
            $0.supervisionTimeout = settings.parameters.timeout
        }
    }
}
