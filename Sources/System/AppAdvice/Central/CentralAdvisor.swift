import BluetoothTypes
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The detectors for one central manager.
struct CentralAdvisor: Sendable {
    private var picture = CentralPicture()
    // Those that depend on time, which also passes with each value that the app is notified of.
    private var scanUntilFound = ScanUntilFound()
    private var longScan = LongScan()
    private var rareValues = RareValues()
    private var idleConnection = IdleConnection()
    private var scanForKnown = ScanForKnown()
    /// All others.
    private var detectors: [any CentralDetector] = [
        DuplicateReports(), ScanWithoutServices(), WideDiscovery(), Polling(), ReadWhileNotifying(), LongWrites(),
        CancelWhileNotifying(), ReleasedPeripheral(), RepeatedCalls(), BulkByAttributes(), AdvertisingInterval(),
    ]

    /// Takes in an event of the manager, after the time has passed to it.
    mutating func accept(_ content: Observation.Content, _ history: inout KnownPeers, _ findings: inout Findings) {
        switch content {
        case .delivered(.central(.peer(let peer, .valueNotified(let handle, let value)))):
            count(value.count, of: handle, peer, &findings)
        case .requested(.central(let request)):
            take(.requested(request), &history, &findings)
            picture.accept(request, at: findings.now, from: findings.site)
        case .delivered(.central(let event)):
            take(.delivered(event), &history, &findings)
            picture.accept(event, at: findings.now)
        case .delivered(.stateChanged(let state)):
            take(.changed(state), &history, &findings)
            picture.accept(state)
        case .managerClosed: take(.closed, &history, &findings)
        case .practiced(let practice): findings.add(practice, picture)
        default: break
        }
    }

    /// Takes in a value that the app is notified of. Only the picture has to do with each. Detectors look there when it
    /// matters.
    mutating func count(_ octets: Int, of handle: AttributeHandle, _ peer: UUID, _ findings: inout Findings) {
        let total = picture.count(octets, of: handle, peer, at: findings.now)
        if total >= AdviceThresholds.bulk {
            BulkByAttributes().count(octets, from: total - octets, peer, picture, &findings)
        }
    }

    /// Lets the time pass, for the detectors that depend on it.
    mutating func pass(_ findings: inout Findings) { takeTimed(.passed, &findings) }

    private mutating func takeTimed(_ step: CentralStep, _ findings: inout Findings) {
        scanUntilFound.accept(step, picture, &findings)
        longScan.accept(step, picture, &findings)
        rareValues.accept(step, picture, &findings)
        idleConnection.accept(step, picture, &findings)
    }

    private mutating func take(_ step: CentralStep, _ history: inout KnownPeers, _ findings: inout Findings) {
        takeTimed(step, &findings)
        for index in detectors.indices { detectors[index].accept(step, picture, &findings) }
        scanForKnown.accept(step, picture, history, &findings)
        if case (let peer, .connected)? = step.peerEvent { history.insert(peer) }
    }
}
