import CoreMetrics
import Testing

@testable import ServiceProcess

/// Metrics as the text that Prometheus reads.
@Suite struct MetricsTextTests {
    private func value(_ name: String, in text: MetricsText) -> String? {
        text.text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last.map(String.init)
    }

    @Test("counters add up and begin anew, and one is the same under the same name")
    func counters() {
        let text = MetricsText()
        let whole = text.makeCounter(label: "a", dimensions: [])
        #expect(value("a", in: text) == "0")
        whole.increment(by: 2)
        text.makeCounter(label: "a", dimensions: []).increment(by: 3)
        #expect(value("a", in: text) == "5")
        whole.reset()
        #expect(value("a", in: text) == "0")
        let broken = text.makeFloatingPointCounter(label: "b", dimensions: [])
        broken.increment(by: 0.25)
        broken.increment(by: 0.5)
        #expect(value("b", in: text) == "0.75")
        #expect(text.text.contains("# TYPE a counter\n"))
        #expect(text.text.contains("# TYPE b counter\n"))
    }

    @Test("a gauge has the last value, or one that was raised and lowered")
    func gauges() {
        let text = MetricsText()
        let meter = text.makeMeter(label: "m", dimensions: [])
        meter.set(7 as Int64)
        #expect(value("m", in: text) == "7")
        meter.set(1.5 as Double)
        meter.increment(by: 2)
        meter.decrement(by: 0.5)
        #expect(value("m", in: text) == "3")
        let recorder = text.makeRecorder(label: "r", dimensions: [], aggregate: true)
        recorder.record(4 as Int64)
        recorder.record(9 as Int64)
        #expect(value("r", in: text) == "9")
        recorder.record(0.125 as Double)
        #expect(value("r", in: text) == "0.125")
        #expect(text.text.contains("# TYPE m gauge\n"))
        #expect(text.text.contains("# TYPE r gauge\n"))
    }

    @Test("whole numbers have no point, as far as a number of 64 bits tells them apart")
    func numbers() {
        let text = MetricsText()
        let meter = text.makeMeter(label: "m", dimensions: [])
        for (number, shown) in [
            (-3, "-3"), (999_999_999_999_999, "999999999999999"), (1e15, "1000000000000000.0"),
            (-1e15, "-1000000000000000.0"),
            (.infinity, "inf"), (-0.5, "-0.5"),
        ] as [(Double, String)] {
            meter.set(number)
            #expect(value("m", in: text) == shown)
        }
    }

    @Test("metrics stand in the order of their names, and times are not collected")
    func order() {
        let text = MetricsText()
        for name in ["b", "c", "a"] { text.makeCounter(label: name, dimensions: []).increment(by: 1) }
        text.makeTimer(label: "t", dimensions: []).recordNanoseconds(1)
        #expect(
            text.text == ["a", "b", "c"].map { "# TYPE \($0) counter\n\($0) 1\n" }.joined()
        )
    }

    @Test("a name has no other characters than Prometheus takes, and the first kind of a name stays")
    func names() {
        let text = MetricsText()
        text.makeCounter(label: "zZ9_é-ß", dimensions: []).increment(by: 1)
        #expect(text.text == "# TYPE zZ9____ counter\nzZ9____ 1\n")
        text.makeMeter(label: "zZ9____", dimensions: []).set(5.0 as Double)
        #expect(text.text == "# TYPE zZ9____ counter\nzZ9____ 5\n")
    }

    @Test("no more than 256 names are kept")
    func bounds() {
        let text = MetricsText()
        for number in 0..<MetricsText.maximumNames + 1 {
            text.makeCounter(label: "n\(number)", dimensions: []).increment(by: 1)
        }
        #expect(MetricsText.maximumNames == 256)
        #expect(text.text.split(separator: "\n").count == 512)
        #expect(value("n255", in: text) == "1")
        #expect(value("n256", in: text) == nil)
    }
}
