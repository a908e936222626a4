import ArgumentParser
import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import Logging
import ServiceProcess

/// The metrics option of a service.
struct MetricsOptions: ParsableArguments {
    static let interval = Duration.seconds(10)

    @Option(
        help: ArgumentHelp("Write metrics to this file in Prometheus format every ten seconds.", valueName: "FILE"),
        completion: .file()
    )
    var metrics: String?

    /// Counts the activity of a system and writes the metrics, if the option is set. Stops when the returned object is
    /// released. On the loop only.
    func count(_ system: BluetoothSystem, loop: any EventLoop) -> AnyObject? {
        guard let metrics else { return nil }
        let text = MetricsText()
        let counted = Counted(
            system: system,
            activity: ServiceMetrics(of: system, factory: text),
            energy: EnergyMetrics(factory: text)
        )
        Self.write(text, to: metrics, loop: loop, as: counted)
        return counted
    }

    private final class Counted {
        private weak var system: BluetoothSystem?
        private let activity: ServiceMetrics
        private let energy: EnergyMetrics

        init(system: BluetoothSystem, activity: ServiceMetrics, energy: EnergyMetrics) {
            (self.system, self.activity, self.energy) = (system, activity, energy)
        }

        /// Records what is not counted as it happens.
        func update() {
            if let status = system?.energySource?.status { energy.record(status) }
        }
    }

    private static func write(_ text: MetricsText, to path: String, loop: any EventLoop, as counted: Counted) {
        counted.update()
        do throws(OutputFile.Failure) {
            // A collector reads either the old or the new text.
            try OutputFile.write(Array(text.text.utf8), to: path)
        } catch {
            ServiceLog.logger.warning("cannot write the metrics to \(path.visible): \(error.reason)")
        }
        loop.schedule(after: interval) { [weak counted] in
            if let counted { write(text, to: path, loop: loop, as: counted) }
        }
    }
}
