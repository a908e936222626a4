import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The detectors for one peripheral manager.
struct PeripheralAdvisor: Sendable {
    private var picture = PeripheralPicture()
    private var advertisingAtLaunch: AdvertisingAtLaunch
    private var endlessAdvertising = EndlessAdvertising()
    private var overfullAdvertisement = OverfullAdvertisement()
    private var valuesWithoutNotify = ValuesWithoutNotify()
    private var openWrites = OpenWrites()
    private var lateResponses = LateResponses()
    private var truncatedUpdates = TruncatedUpdates()
    private var bulkUpdates = BulkUpdates()
    private var manyServices = ManyServices()
    private let notedPractices = NotedPractices()

    /// Creates the detectors.
    ///
    /// - Parameter began: When the app's process created its first manager.
    init(began: Instant) {
        advertisingAtLaunch = AdvertisingAtLaunch(began: began)
    }

    /// Takes in an event of the manager, or without one only the time.
    mutating func accept(_ content: Observation.Content?, _ context: AppContext, _ findings: inout Findings) {
        take(.passed, context, &findings)
        findings.site = context.site
        switch content {
        case .requested(.peripheral(let request)):
            take(.requested(request), context, &findings)
            picture.accept(request, from: context.site)
        case .delivered(.peripheral(let event)):
            take(.delivered(event), context, &findings)
            picture.accept(event)
        case .delivered(.stateChanged(let state)):
            take(.changed(state), context, &findings)
            picture.accept(state)
        case .practiced(let practice): take(.practiced(practice), context, &findings)
        default: break
        }
    }

    private mutating func take(_ step: PeripheralStep, _ context: AppContext, _ findings: inout Findings) {
        advertisingAtLaunch.accept(step, picture, context, &findings)
        endlessAdvertising.accept(step, picture, context, &findings)
        overfullAdvertisement.accept(step, picture, context, &findings)
        valuesWithoutNotify.accept(step, picture, context, &findings)
        openWrites.accept(step, picture, context, &findings)
        lateResponses.accept(step, picture, context, &findings)
        truncatedUpdates.accept(step, picture, context, &findings)
        bulkUpdates.accept(step, picture, context, &findings)
        manyServices.accept(step, picture, context, &findings)
        if case .practiced(.noted(let note)) = step { notedPractices.accept(note, { _ in "a device" }, &findings) }
    }
}
