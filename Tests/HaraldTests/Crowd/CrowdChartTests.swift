import Foundation
import Testing

@testable import harald

@Suite struct CrowdChartTests {
    /// Collects the names of elements, and the lines and points inside of the document.
    private final class Reader: NSObject {
        private(set) var counts: [String: Int] = [:]
        private(set) var texts: [String] = []

        init?(_ svg: String) {
            // The documents have no comments, no character data with ">" and one element a line.
            super.init()
            var open: [String] = []
            for match in svg.matches(of: /<(\/?)([a-z]+)[^>]*?(\/?)>([^<]*)/) {
                let name = String(match.2)
                if match.1.isEmpty {
                    counts[name, default: 0] += 1
                    if name == "text" || name == "title" { texts.append(String(match.4)) }
                    if match.3.isEmpty { open.append(name) }
                } else if open.popLast() != name {
                    return nil
                }
            }
            guard open.isEmpty else { return nil }
        }
    }

    private var report: CrowdReport {
        var crowd = CrowdConfiguration()
        (crowd.phones, crowd.accessories, crowd.seconds, crowd.services) = (64, 8, 5, 2)
        return CrowdReport(crowd)
    }

    @Test func theDocumentHasAllCharts() throws {
        let report = report
        let svg = report.svg
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\""))
        #expect(!svg.contains("nan") && !svg.contains("inf\""))
        let reader = try #require(Reader(svg))
        #expect(reader.counts["svg"] == 1)
        #expect(reader.counts["g"] == 6)
        // Three kinds of scan, three charts with a series for each crowd, and two of the overflow area.
        #expect(reader.counts["polyline"] == 3 + 3 * report.crowds.count + 2)
        for title in ["Reports per second to one observer", "Lost advertisements of a device"] {
            #expect(reader.texts.contains(title))
        }
        #expect(reader.texts.contains { $0.hasPrefix("A crowd of 64 phones and 8 accessories") })
    }

    @Test func pointsAreWhereTheAxesSay() {
        let series = CrowdChart.Series(name: "a < b & c", points: [(x: 10, y: 1)], line: [(x: 0, y: 0), (x: 10, y: 1)])
        let text = CrowdChart(title: "t", xLabel: "x", yLabel: "y", series: [series]).elements
        // The upper right corner of the plot: 60 + 310, and 36; the origin is at 36 + 218.
        #expect(text.contains("points=\"60.0,254.0 370.0,36.0\""))
        #expect(text.contains("cx=\"370.0\" cy=\"36.0\""))
        #expect(text.contains(">a &lt; b &amp; c</text>"))
    }

    @Test(arguments: [(1.0, 6), (0.07, 5), (543, 6), (2, 5), (9.99, 5), (5, 6)])
    func ticksAreRoundAndFew(high: Double, most: Int) {
        let ticks = CrowdChart.ticks(high)
        #expect((2...most).contains(ticks.count))
        #expect(ticks.first == 0 && ticks.last ?? 0 <= high * 1.000_001)
    }
}
