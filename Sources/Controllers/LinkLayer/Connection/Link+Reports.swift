import BluetoothTypes
import HCI

// The events of a link for the host.
extension Link {
    func versionComplete(
        _ status: HCIStatus,
        _ peer: VersionIndication
    ) -> ReadRemoteVersionInformationComplete {
        .init(
            status: status,
            handle: handle,
            version: peer.version,
            companyIdentifier: peer.company,
            subversion: peer.subversion
        )
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
        .init(
            status: status,
            handle: handle,
            factor: subrate.factor,
            latency: control.timing.latency,
            continuation: subrate.continuation,
            supervisionTimeout: control.timing.timeout
        )
    }

    func parameterRequest(_ asked: ConnectionParameterRequest) -> LERemoteConnectionParameterRequest {
        .init(
            handle: handle,
            intervalMin: asked.intervalMin,
            intervalMax: asked.intervalMax,
            maxLatency: asked.latency,
            supervisionTimeout: asked.timeout
        )
    }
}
