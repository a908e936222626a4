import Foundation
import ServiceEvents

/// The charge of the apps as the page shows it, and what has changed from one look to the next.
struct PageEnergy {
    /// The changes since the last look: all sums, and the apps with another charge.
    struct Change: Encodable, Hashable {
        /// The sums, without apps.
        let sums: EnergyStatus
        let changed: [AppEnergyStatus]
        /// The names of the apps that are not listed any more.
        let gone: [String]
    }

    private var status: EnergyStatus?

    /// The charge of all apps as JSON; `null` if the service does not follow it.
    var snapshot: String { JSON.of(status) }

    /// Takes in an answer of the service, which bounds the number of apps.
    ///
    /// - Returns: The changes since the last answer; nil if there are none, or nothing to compare with.
    mutating func update(_ answer: EnergyStatus?) -> Change? {
        let new = answer?.rounded
        defer { status = new }
        guard let new, let old = status, new != old else { return nil }
        let known = Set(old.apps)
        var sums = new
        sums.apps = []
        return Change(
            sums: sums,
            changed: new.apps.filter { !known.contains($0) },
            gone: Set(old.apps.map(\.app)).subtracting(new.apps.map(\.app)).sorted()
        )
    }
}

extension EnergyStatus {
    /// The numbers with as many digits as a page shows, so that an idle app does not change.
    fileprivate var rounded: EnergyStatus {
        var status = self
        status.elapsedSeconds = elapsedSeconds.rounded()
        status.microampereHours = microampereHours.shown
        status.averageMicroamperes = averageMicroamperes.shown
        status.sleepMicroampereHours = sleepMicroampereHours.shown
        status.systemMicroampereHours = systemMicroampereHours.shown
        status.otherAppsMicroampereHours = otherAppsMicroampereHours.shown
        status.apps = apps.map(\.rounded)
        return status
    }
}

extension AppEnergyStatus {
    fileprivate var rounded: AppEnergyStatus {
        var status = self
        status.microampereHours = microampereHours.shown
        (status.sendingSeconds, status.listeningSeconds) = (sendingSeconds.shown, listeningSeconds.shown)
        status.uses = uses.map {
            UseEnergyStatus(use: $0.use, peer: $0.peer, microampereHours: $0.microampereHours.shown)
        }
        return status
    }
}

extension Double {
    /// The number with four significant digits.
    fileprivate var shown: Double {
        guard isFinite, self != 0 else { return 0 }
        let scale = pow(10, 3 - log10(magnitude).rounded(.down))
        return (self * scale).rounded() / scale
    }
}
