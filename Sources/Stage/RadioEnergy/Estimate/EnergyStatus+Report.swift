import Foundation
import ServiceEvents

extension EnergyStatus {
    /// Creates the status of a report: the apps with the largest charge, each with its largest uses.
    init(_ report: EnergyReport) {
        let apps = report.apps.map { AppEnergyStatus($0, in: report) }
            .sorted { ($1.microampereHours, $0.app) < ($0.microampereHours, $1.app) }
        let shown = apps.prefix(Self.maximumApps)
        self.init(
            profile: report.profile,
            isEstimate: report.isEstimate,
            elapsedSeconds: report.elapsed / .seconds(1),
            microampereHours: report.total.microampereHours,
            averageMicroamperes: report.averageMicroamperes,
            sleepMicroampereHours: report.sleep.microampereHours,
            systemMicroampereHours: report.charge(of: nil).microampereHours,
            otherAppsMicroampereHours: apps.dropFirst(shown.count).reduce(0) { $0 + $1.microampereHours },
            apps: Array(shown)
        )
    }
}

extension AppEnergyStatus {
    fileprivate init(_ app: String, in report: EnergyReport) {
        let (charge, usage) = (report.charge(of: app), report.usage(of: app))
        let items = report.items.filter { $0.account.app == app }.sorted { $0.charge > $1.charge }
        self.init(
            app: app,
            microampereHours: charge.microampereHours,
            sendingSeconds: usage.sending / .seconds(1),
            listeningSeconds: usage.listening / .seconds(1),
            uses: items.prefix(EnergyStatus.maximumUses).map { item in
                UseEnergyStatus(
                    use: item.account.use.kind,
                    peer: item.account.use.peer,
                    microampereHours: item.charge.microampereHours
                )
            }
        )
    }
}
