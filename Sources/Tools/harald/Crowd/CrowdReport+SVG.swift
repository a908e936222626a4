import Foundation

extension CrowdReport {
    private static let columns = 2

    /// The charts, as an SVG document: points are simulated, lines expected.
    var svg: String {
        let charts = [rateChart, lossChart] + discoveryCharts + overflowCharts
        let (width, height) = (CrowdChart.width, CrowdChart.height)
        let rows = (charts.count + Self.columns - 1) / Self.columns
        let groups = charts.enumerated().map { number, chart in
            let (x, y) = (Double(number % Self.columns) * width, Double(number / Self.columns) * height)
            return "<g transform=\"translate(\(Int(x)) \(Int(y)))\">\n\(chart.elements)\n</g>"
        }
        let size = (Int(width) * Self.columns, Int(height) * rows)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(size.0)" height="\(size.1)" viewBox="0 0 \(size.0) \(size.1)" \
            font-family="sans-serif" font-size="11">
            <title>A crowd of \(crowds.first.map(\.text) ?? "nothing"): simulated (points) and expected (lines)</title>
            <rect width="100%" height="100%" fill="white"/>
            \(groups.joined(separator: "\n"))
            </svg>

            """
    }

    private var rateChart: CrowdChart {
        let kinds = [ScanKind.continuous] + ScanKind.apps
        return CrowdChart(
            title: "Reports per second to one observer",
            xLabel: "devices",
            yLabel: "reports/s",
            series: kinds.enumerated().map { number, kind in
                let points = crowds.map { (x: Double($0.devices), y: $0.scans[number].reportsPerSecond) }
                let sizes = Self.sizes(crowds.map(\.devices))
                return CrowdChart.Series(
                    name: kind.name,
                    points: points,
                    line: sizes.map { (x: Double($0), y: model($0).reportRate(kind)) }
                )
            },
            isLogarithmic: true
        )
    }

    /// Returns the model of a part of the crowd with this number of devices.
    private func model(_ devices: Int) -> ContentionModel {
        let total = groups.reduce(0) { $0 + $1.count }
        return ContentionModel(
            groups.map { group in
                var part = group
                part.count = (group.count * devices + total / 2) / total
                return part
            }
        )
    }

    /// Returns numbers of devices for a smooth curve from the smallest crowd to the largest.
    private static func sizes(_ devices: [Int]) -> [Int] {
        guard let low = devices.min(), let high = devices.max(), low > 0 else { return [] }
        let ratio = Double(high) / Double(low)
        return (0...60).map { Int((Double(low) * pow(ratio, Double($0) / 60)).rounded()) }
    }

    private var lossChart: CrowdChart {
        CrowdChart(
            title: "Lost advertisements of a device",
            xLabel: "lost fraction of its PDUs",
            yLabel: "fraction of devices",
            series: crowds.map { Self.series($0, $0.losses) }
        )
    }

    private var discoveryCharts: [CrowdChart] {
        ScanKind.apps.enumerated().map { number, kind in
            CrowdChart(
                title: "Discovery, scan in the \(kind.name)",
                xLabel: "seconds",
                yLabel: "fraction of devices discovered",
                series: crowds.map { Self.series($0, $0.scans[number + 1].discovery) }
            )
        }
    }

    private static func series(_ crowd: CrowdStatistics, _ points: [CrowdStatistics.Point]) -> CrowdChart.Series {
        CrowdChart.Series(
            name: "\(crowd.devices) devices",
            points: points.map { (x: $0.value, y: $0.devices) },
            line: points.map { (x: $0.value, y: $0.expected) }
        )
    }

    private var overflowCharts: [CrowdChart] {
        [
            overflowChart("Services of a phone that share a bit", "fraction of phones", \.shared, \.sharedExpected),
            overflowChart("Scans for other services", "false matches", \.falseMatches, \.falseMatchesExpected),
        ]
    }

    private func overflowChart(
        _ title: String,
        _ label: String,
        _ value: KeyPath<OverflowStudy, Double>,
        _ expected: KeyPath<OverflowStudy, Double>
    ) -> CrowdChart {
        let series = CrowdChart.Series(
            name: "overflow area",
            points: overflow.map { (x: Double($0.services), y: $0[keyPath: value]) },
            line: overflow.map { (x: Double($0.services), y: $0[keyPath: expected]) }
        )
        return CrowdChart(title: title, xLabel: "services of the phone", yLabel: label, series: [series])
    }
}

extension CrowdStatistics {
    var devices: Int { phones + accessories }

    var text: String {
        let (phone, accessory) = (phones == 1 ? "phone" : "phones", accessories == 1 ? "accessory" : "accessories")
        return "\(phones) \(phone) and \(accessories) \(accessory)"
    }
}
