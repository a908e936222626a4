import ArgumentParser
import BluetoothService
import EventLoops
import Foundation
import Logging
import ServiceProcess

/// Where a service writes what it has counted.
struct MetricsOptions: ParsableArguments {
    /// How often the file is written.
    static let interval = Duration.seconds(10)

    @Option(help: "Write what the service has counted to this file, as Prometheus reads it, every ten seconds.")
    var metrics: String?

    /// Counts what a system does, if it is wanted; as long as what is returned is there. On the loop.
    func count(_ system: BluetoothSystem, loop: any EventLoop) -> AnyObject? {
        guard let metrics else { return nil }
        let text = MetricsText()
        let counted = ServiceMetrics(of: system, factory: text)
        Self.write(text, to: metrics, loop: loop, as: counted)
        return counted
    }

    private static func write(_ text: MetricsText, to path: String, loop: any EventLoop, as counted: ServiceMetrics) {
        do {
            // Whoever collects it finds the old text or the new one.
            try Data(text.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            ServiceLog.logger.warning("the metrics cannot be written to \(path): \(error.localizedDescription)")
        }
        loop.schedule(after: interval) { [weak counted] in
            if let counted { write(text, to: path, loop: loop, as: counted) }
        }
    }
}
