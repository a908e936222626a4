import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The detectors for one peripheral manager.
struct PeripheralAdvisor: Sendable {
    private var picture = PeripheralPicture()
    private var detectors: [any PeripheralDetector]

    /// - Parameter began: When the app's process created its first manager.
    init(began: Instant) {
        detectors = [
            AdvertisingAtLaunch(began: began), EndlessAdvertising(), OverfullAdvertisement(), ValuesWithoutNotify(),
            OpenWrites(), LateResponses(), TruncatedUpdates(), BulkUpdates(), ManyServices(),
        ]
    }

    mutating func pass(_ findings: inout Findings) { take(.passed, &findings) }

    /// Takes in an event of the manager, after the time has passed to it.
    mutating func accept(_ content: Observation.Content, _ findings: inout Findings) {
        switch content {
        case .requested(.peripheral(let request)):
            take(.requested(request), &findings)
            picture.accept(request, from: findings.site)
        case .delivered(.peripheral(let event)):
            take(.delivered(event), &findings)
            picture.accept(event)
        case .delivered(.stateChanged(let state)):
            take(.changed(state), &findings)
            picture.accept(state)
        case .practiced(.noted(let note)): findings.add(note) { _ in "a device" }
        default: break
        }
    }

    private mutating func take(_ step: PeripheralStep, _ findings: inout Findings) {
        for index in detectors.indices { detectors[index].accept(step, picture, &findings) }
    }
}
