import BluetoothTypes
import Foundation

/// The charge that the apps of a system drew from the battery. The names of the fields are stable. Numbers have the
/// units in their names.
package struct EnergyStatus: Codable, Hashable, Sendable {
    /// The maximum number of apps, and of uses of each, so that a status fits in one message.
    package static let maximumApps = 32
    package static let maximumUses = 8

    /// The name of the radio profile that the charges follow.
    package var profile: String
    /// Whether the radio time is an estimate from what the host knows, as with every real controller.
    package var isEstimate: Bool
    /// The time that the charges are for.
    package var elapsedSeconds: Double
    /// The charge of the radio for all apps and for the system, and of its sleep.
    package var microampereHours: Double
    package var averageMicroamperes: Double
    /// The charge of the sleep current, which belongs to no app.
    package var sleepMicroampereHours: Double
    /// The charge of what the system did for itself.
    package var systemMicroampereHours: Double
    /// The charge of the apps that are not listed.
    package var otherAppsMicroampereHours: Double
    /// The apps with the largest charge, the largest first.
    package var apps: [AppEnergyStatus]

    package init(
        profile: String,
        isEstimate: Bool,
        elapsedSeconds: Double,
        microampereHours: Double,
        averageMicroamperes: Double,
        sleepMicroampereHours: Double,
        systemMicroampereHours: Double,
        otherAppsMicroampereHours: Double,
        apps: [AppEnergyStatus]
    ) {
        self.profile = profile
        self.isEstimate = isEstimate
        self.elapsedSeconds = elapsedSeconds
        self.microampereHours = microampereHours
        self.averageMicroamperes = averageMicroamperes
        self.sleepMicroampereHours = sleepMicroampereHours
        self.systemMicroampereHours = systemMicroampereHours
        self.otherAppsMicroampereHours = otherAppsMicroampereHours
        self.apps = apps
    }
}

/// The charge that an app drew from the battery.
package struct AppEnergyStatus: Codable, Hashable, Sendable {
    package var app: String
    package var microampereHours: Double
    package var sendingSeconds: Double
    package var listeningSeconds: Double
    /// The purposes with the largest charge, the largest first.
    package var uses: [UseEnergyStatus]

    package init(
        app: String,
        microampereHours: Double,
        sendingSeconds: Double,
        listeningSeconds: Double,
        uses: [UseEnergyStatus]
    ) {
        (self.app, self.microampereHours, self.uses) = (app, microampereHours, uses)
        (self.sendingSeconds, self.listeningSeconds) = (sendingSeconds, listeningSeconds)
    }
}

/// A purpose for which an app used the radio.
package struct UseEnergyStatus: Codable, Hashable, Sendable {
    /// `scanning`, `advertising`, `connecting`, `link`, the name of an operation or of a procedure, or `other`.
    package var use: String
    /// The identifier that apps know the peer by, if the use is about one.
    package var peer: UUID?
    package var microampereHours: Double

    package init(use: String, peer: UUID?, microampereHours: Double) {
        (self.use, self.peer, self.microampereHours) = (use, peer, microampereHours)
    }
}

/// Tells what the apps of a system cost the battery. Used on the system's loop.
///
/// The module RadioEnergy has the implementation. The service's program passes it to
/// `BluetoothSystem.energySource` if its user asks for it, so that apps with a service of their own do not link it.
package protocol EnergySource: AnyObject {
    var status: EnergyStatus { get }
}

extension EnergyStatus {
    /// The lines, the first of which says whether it is an estimate.
    package var lines: [String] {
        let mark = isEstimate ? "estimate" : "exact"
        let first =
            "energy (\(mark), radio profile \(profile.visible)): \(Self.text(microampereHours)) in "
            + "\(Int(elapsedSeconds.rounded())) s, \(Self.digits(averageMicroamperes)) µA on average"
        let rest = [("other apps", otherAppsMicroampereHours), ("system", systemMicroampereHours)]
            .filter { $0.1 > 0 }.map { "\($0.0): \(Self.text($0.1))" }
        return [first]
            + (apps.map(\.line) + rest + ["sleep: \(Self.text(sleepMicroampereHours))"]).map { "  \($0)" }
    }

    /// Returns a charge for the user, with three significant digits.
    static func text(_ microampereHours: Double) -> String {
        abs(microampereHours) < 1_000
            ? "\(digits(microampereHours)) µAh" : "\(digits(microampereHours / 1_000)) mAh"
    }

    /// Returns a number with three significant digits.
    static func digits(_ value: Double) -> String {
        let places = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 1 ? 2 : 4
        return String(format: "%.\(places)f", value)
    }
}

extension AppEnergyStatus {
    fileprivate var line: String {
        let uses = uses.map { use in
            let peer = use.peer.map { " with \($0)" } ?? ""
            return "\(use.use.visible)\(peer) \(EnergyStatus.text(use.microampereHours))"
        }
        return "\(app.visible): \(EnergyStatus.text(microampereHours)) (\(uses.joined(separator: ", ")))"
    }
}
