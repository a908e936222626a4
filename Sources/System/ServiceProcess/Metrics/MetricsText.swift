import CoreMetrics
import Synchronization

/// Collects metrics in this process and renders them in the text format of Prometheus (version 0.0.4), for a file that
/// the node exporter reads. Supports counters and gauges, which are all that ``ServiceMetrics`` uses. Thread-safe.
package final class MetricsText: MetricsFactory {
    /// The maximum number of metrics. All names come from this program, not from outside.
    static let maximumNames = 256

    private struct Metric {
        let kind: String
        var value: Double
    }

    /// A name, and the labels in the form in which they follow it.
    private struct Name: Hashable, Comparable {
        let name: String
        let labels: String

        static func < (a: Name, b: Name) -> Bool { (a.name, a.labels) < (b.name, b.labels) }
    }

    private let metrics = Mutex<[Name: Metric]>([:])

    package init() {}

    private final class Handler: CounterHandler, FloatingPointCounterHandler, RecorderHandler, MeterHandler {
        private let name: Name
        private let text: MetricsText

        init(_ name: Name, _ text: MetricsText) {
            self.name = name
            self.text = text
        }

        func increment(by amount: Int64) { text.change(name) { $0 += Double(amount) } }
        func increment(by amount: Double) { text.change(name) { $0 += amount } }
        func decrement(by amount: Double) { text.change(name) { $0 -= amount } }
        func reset() { text.change(name) { $0 = 0 } }
        func record(_ value: Int64) { text.change(name) { $0 = Double(value) } }
        func record(_ value: Double) { text.change(name) { $0 = value } }
        func set(_ value: Int64) { text.change(name) { $0 = Double(value) } }
        func set(_ value: Double) { text.change(name) { $0 = value } }
    }

    private func handler(_ name: String, _ dimensions: [(String, String)], _ kind: String) -> Handler {
        let labels = dimensions.map { "\(Self.clean($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        let label = Name(name: Self.clean(name), labels: labels.isEmpty ? "" : "{\(labels)}")
        metrics.withLock { metrics in
            guard metrics[label] == nil, metrics.count < Self.maximumNames else { return }
            metrics[label] = Metric(kind: kind, value: 0)
        }
        return Handler(label, self)
    }

    private static func clean(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n", "\r\n": text += "\\n"
            default: text.append(character)
            }
        }
    }

    private func change(_ name: Name, _ body: (inout Double) -> Void) {
        metrics.withLock { metrics in
            guard var metric = metrics[name] else { return }
            body(&metric.value)
            metrics[name] = metric
        }
    }

    /// All metrics in the text format, sorted by name.
    package var text: String {
        metrics.withLock { metrics in
            var last: String?
            return metrics.sorted { $0.key < $1.key }.map { name, metric in
                let isWhole = metric.value == metric.value.rounded() && abs(metric.value) < 1e15
                let value = isWhole ? "\(Int(metric.value))" : "\(metric.value)"
                // All values of a name follow its type.
                let type = last == name.name ? "" : "# TYPE \(name.name) \(metric.kind)\n"
                last = name.name
                return "\(type)\(name.name)\(name.labels) \(value)\n"
            }.joined()
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        handler(label, dimensions, "counter")
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { handler(label, dimensions, "counter") }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        handler(label, dimensions, "gauge")
    }

    /// See `MetricsFactory`. The last value counts, whether or not aggregation is requested.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handler(label, dimensions, "gauge")
    }

    /// See `MetricsFactory`. Times are not collected.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
