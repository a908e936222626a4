import Foundation

/// A chart with points for simulated values and lines for expected ones.
struct CrowdChart {
    /// A simulated curve and the expected one.
    struct Series {
        var name: String
        var points: [(x: Double, y: Double)]
        var line: [(x: Double, y: Double)]
    }

    /// The size of a chart, in pixels, and the margins of its plot.
    static let (width, height) = (480.0, 300.0)
    private static let (left, right, top, bottom) = (60.0, 110.0, 36.0, 46.0)
    private static let colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

    var title: String
    var xLabel: String
    var yLabel: String
    var series: [Series]
    /// Whether each step on the x axis doubles the value.
    var isLogarithmic = false

    /// The elements of the chart, for a group whose origin is its upper left corner.
    var elements: String {
        let frame = Self.rectangle(Self.left, Self.top, Self.plotWidth, Self.plotHeight)
        let labels = [
            Self.text(Self.left, 20, title, "font-weight=\"bold\""),
            Self.text(Self.left + Self.plotWidth / 2, Self.height - 8, xLabel, "text-anchor=\"middle\""),
            Self.text(4, Self.top - 6, yLabel),
        ]
        let curves = zip(series, Self.colors).enumerated().map { curve($1.0, $1.1, number: $0) }
        return ([frame] + labels + xTicks + yTicks + curves).joined(separator: "\n")
    }

    private static var plotWidth: Double { width - left - right }
    private static var plotHeight: Double { height - top - bottom }

    private var allPoints: [(x: Double, y: Double)] { series.flatMap { $0.points + $0.line } }

    private var xRange: (low: Double, high: Double) {
        let values = allPoints.map(\.x)
        guard isLogarithmic else { return (0, max(values.max() ?? 1, 1e-9)) }
        let low = max(values.min() ?? 1, 1)
        return (low, max(values.max() ?? 2, low * 2))
    }

    private var yHigh: Double {
        let high = allPoints.map(\.y).max() ?? 0
        return high > 0 ? high : 1
    }

    private func place(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        let (low, high) = xRange
        let fraction = isLogarithmic ? log(max(point.x, low) / low) / log(high / low) : point.x / high
        return (Self.left + fraction * Self.plotWidth, Self.top + (1 - point.y / yHigh) * Self.plotHeight)
    }

    private func curve(_ series: Series, _ color: String, number: Int) -> String {
        let line = series.line.map { Self.pair(place($0)) }.joined(separator: " ")
        var parts = ["<polyline fill=\"none\" stroke=\"\(color)\" points=\"\(line)\"/>"]
        parts += series.points.map { point in
            let at = place(point)
            return "<circle cx=\"\(Self.number(at.x))\" cy=\"\(Self.number(at.y))\" r=\"2.5\" fill=\"\(color)\"/>"
        }
        let (x, y) = (Self.width - Self.right + 10, Self.top + 10 + Double(number) * 16)
        parts.append("<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y - 4))\" r=\"2.5\" fill=\"\(color)\"/>")
        parts.append(Self.text(x + 8, y, series.name))
        return parts.joined(separator: "\n")
    }

    // MARK: Axes

    private var xTicks: [String] {
        let (low, high) = xRange
        let values = isLogarithmic ? series.first?.points.map(\.x) ?? [] : Self.ticks(high)
        return values.map { value in
            let at = place((max(value, low), 0))
            return Self.text(at.x, at.y + 16, Self.short(value), "text-anchor=\"middle\"")
        }
    }

    private var yTicks: [String] {
        Self.ticks(yHigh).map { value in
            let at = place((xRange.low, value))
            return Self.text(Self.left - 6, at.y + 4, Self.short(value), "text-anchor=\"end\"")
        }
    }

    /// Returns up to six values from 0 to `high`, in steps of 1, 2 or 5 times a power of ten.
    static func ticks(_ high: Double) -> [Double] {
        let power = pow(10, floor(log10(high)))
        let step = [0.2, 0.5, 1].map { $0 * power }.first { high / $0 <= 5 } ?? power * 2
        return (0...Int(high / step + 1e-9)).map { Double($0) * step }
    }

    // MARK: SVG

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
    private static func short(_ value: Double) -> String { String(format: "%.6g", value) }
    private static func pair(_ point: (x: Double, y: Double)) -> String { "\(number(point.x)),\(number(point.y))" }

    private static func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> String {
        """
        <rect x="\(number(x))" y="\(number(y))" width="\(number(width))" height="\(number(height))" fill="none" \
        stroke="#888"/>
        """
    }

    private static func text(_ x: Double, _ y: Double, _ text: String, _ attributes: String = "") -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        let gap = attributes.isEmpty ? "" : " "
        return "<text x=\"\(number(x))\" y=\"\(number(y))\"\(gap)\(attributes)>\(escaped)</text>"
    }
}
