import CoreMetrics
import ServiceEvents

/// Reports what the apps of a system cost the battery to a metrics backend: the estimated charge, by app and part.
///
/// The values of all parts add up to the charge of the device. Used on the event loop of its system.
package final class EnergyMetrics {
    static let charge = "harald_estimated_charge_microampere_hours"

    private let factory: any MetricsFactory
    private var apps: [String: Gauge] = [:]
    private var parts: [String: Gauge] = [:]

    package init(factory: any MetricsFactory) {
        self.factory = factory
    }

    /// Records the values of a status.
    ///
    /// The first apps have values of their own, ``EnergyStatus/maximumApps`` of them. Others, and those that are no
    /// longer among the largest, count as other apps.
    package func record(_ status: EnergyStatus) {
        var others = status.otherAppsMicroampereHours
        var left = Set(apps.keys)
        for app in status.apps {
            left.remove(app.app)
            guard apps[app.app] != nil || apps.count < EnergyStatus.maximumApps else {
                others += app.microampereHours
                continue
            }
            gauge(of: app.app).record(app.microampereHours)
        }
        // An app that the status no longer lists is one of its others.
        for app in left { apps[app]?.record(0) }
        record(others, as: "other apps")
        record(status.systemMicroampereHours, as: "system")
        record(status.sleepMicroampereHours, as: "sleep")
    }

    private func gauge(of app: String) -> Gauge {
        if let gauge = apps[app] { return gauge }
        let gauge = Gauge(label: Self.charge, dimensions: [("part", "app"), ("app", app)], factory: factory)
        apps[app] = gauge
        return gauge
    }

    private func record(_ value: Double, as part: String) {
        let gauge = parts[part] ?? Gauge(label: Self.charge, dimensions: [("part", part)], factory: factory)
        parts[part] = gauge
        gauge.record(value)
    }
}
