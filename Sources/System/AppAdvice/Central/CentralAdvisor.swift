import BluetoothTypes
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The detectors for one central manager.
struct CentralAdvisor: Sendable {
    private var picture = CentralPicture()
    private var scanUntilFound = ScanUntilFound()
    private var duplicateReports = DuplicateReports()
    private var scanWithoutServices = ScanWithoutServices()
    private var longScan = LongScan()
    private var wideDiscovery = WideDiscovery()
    private var polling = Polling()
    private var rareValues = RareValues()
    private var readWhileNotifying = ReadWhileNotifying()
    private var longWrites = LongWrites()
    private var idleConnection = IdleConnection()
    private var cancelWhileNotifying = CancelWhileNotifying()
    private var releasedPeripheral = ReleasedPeripheral()
    private var repeatedCalls = RepeatedCalls()
    private var bulkByAttributes = BulkByAttributes()
    private var scanForKnown = ScanForKnown()
    private var peerPractices = PeerPractices()
    private var advertisingInterval = AdvertisingInterval()
    private let notedPractices = NotedPractices()

    /// Takes in an event of the manager, or without one only the time.
    mutating func accept(
        _ content: Observation.Content?,
        _ context: AppContext,
        _ history: inout KnownPeers,
        _ findings: inout Findings
    ) {
        pass(context, &findings)
        findings.site = context.site
        switch content {
        case .delivered(.central(.peer(let peer, .valueNotified(let handle, let value)))):
            count(value.count, of: handle, peer, context, &findings)
        case .requested(.central(let request)):
            take(.requested(request), context, &history, &findings)
            picture.accept(request, at: context.now, from: context.site)
        case .delivered(.central(let event)):
            take(.delivered(event), context, &history, &findings)
            picture.accept(event, at: context.now)
        case .delivered(.stateChanged(let state)):
            take(.changed(state), context, &history, &findings)
            picture.accept(state)
        case .managerClosed: take(.closed, context, &history, &findings)
        case .practiced(let practice): take(.practiced(practice), context, &history, &findings)
        default: break
        }
    }

    /// Takes in a value that the app is notified of.
    mutating func count(_ value: ValueArrival, _ phase: AppPhase, _ findings: inout Findings) {
        let context = AppContext(now: value.time, phase: phase)
        pass(context, &findings)
        count(value.octets, of: value.handle, value.peer, context, &findings)
    }

    /// Only the picture has to do with each value. Detectors look there when it matters.
    private mutating func count(
        _ octets: Int,
        of handle: AttributeHandle,
        _ peer: UUID,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        let total = picture.count(octets, of: handle, peer, at: context.now)
        if total >= AdviceThresholds.bulk {
            bulkByAttributes.count(octets, from: total - octets, peer, picture, &findings)
        }
    }

    /// Lets the time pass, for the detectors that depend on it.
    private mutating func pass(_ context: AppContext, _ findings: inout Findings) {
        scanUntilFound.accept(.passed, picture, context, &findings)
        longScan.accept(.passed, picture, context, &findings)
        rareValues.accept(.passed, picture, context, &findings)
        idleConnection.accept(.passed, picture, context, &findings)
    }

    private mutating func take(
        _ step: CentralStep,
        _ context: AppContext,
        _ history: inout KnownPeers,
        _ findings: inout Findings
    ) {
        scanUntilFound.accept(step, picture, context, &findings)
        duplicateReports.accept(step, picture, context, &findings)
        scanWithoutServices.accept(step, picture, context, &findings)
        longScan.accept(step, picture, context, &findings)
        wideDiscovery.accept(step, picture, context, &findings)
        polling.accept(step, picture, context, &findings)
        rareValues.accept(step, picture, context, &findings)
        readWhileNotifying.accept(step, picture, context, &findings)
        longWrites.accept(step, picture, context, &findings)
        idleConnection.accept(step, picture, context, &findings)
        cancelWhileNotifying.accept(step, picture, context, &findings)
        releasedPeripheral.accept(step, picture, context, &findings)
        repeatedCalls.accept(step, picture, context, &findings)
        bulkByAttributes.accept(step, picture, context, &findings)
        scanForKnown.accept(step, picture, history, &findings)
        peerPractices.accept(step, picture, context, &findings)
        advertisingInterval.accept(step, picture, context, &findings)
        if case .practiced(.noted(let note)) = step { notedPractices.accept(note, { picture[$0].words }, &findings) }
        if case (let peer, .connected)? = step.peerEvent { history.insert(peer) }
    }
}
