import BluetoothTypes
import HCI

// The events of a link for the host.
extension Link {
    func versionComplete(
        _ status: HCIStatus,
        _ peer: VersionIndication
    ) -> ReadRemoteVersionInformationComplete {
        .init {
            $0.status = status
            $0.handle = handle
            $0.version = peer.version
            $0.companyIdentifier = peer.company
            $0.subversion = peer.subversion
        }
    }

    var dataLengthChange: LEDataLengthChange {
        let length = control.dataLength
        return LEDataLengthChange(
            handle: handle,
            maxTxOctets: length.txOctets,
            maxTxTime: length.txTime(txPHY),
            maxRxOctets: length.rxOctets,
            maxRxTime: length.rxTime(rxPHY)
        )
    }

    func phyComplete(_ status: HCIStatus) -> LEPHYUpdateComplete {
        .init(status: status, handle: handle, txPHY: control.txPHY, rxPHY: control.rxPHY)
    }

    func updateComplete(_ status: HCIStatus) -> LEConnectionUpdateComplete {
        .init(
            status: status,
            handle: handle,
            interval: control.timing.interval,
            latency: control.timing.latency,
            supervisionTimeout: control.timing.timeout
        )
    }

    func subrateChange(_ status: HCIStatus, _ subrate: SubrateIndication) -> LESubrateChange {
        .init {
            $0.status = status
            $0.handle = handle
            $0.factor = subrate.factor
            $0.latency = control.timing.latency
            $0.continuation = subrate.continuation
            $0.supervisionTimeout = control.timing.timeout
        }
    }

    func parameterRequest(_ asked: ConnectionParameterRequest) -> LERemoteConnectionParameterRequest {
        .init {
            $0.handle = handle
            $0.intervalMin = asked.intervalMin
            $0.intervalMax = asked.intervalMax
            $0.maxLatency = asked.latency
            $0.supervisionTimeout = asked.timeout
        }
    }
}
