import BluetoothTypes

/// The connections of a capture on a line of time, as an SVG image.
package struct StoryTimeline: Sendable {
    private static let width = 1_000.0
    private static let margin = 20.0
    private static let row = 44.0
    /// The links that are drawn. More of them would not be readable.
    package static let maximumLinks = 100
    private static let steps = 5

    private let links: [LinkSummary]
    private let begin: Int64
    private let duration: Int64

    package init(_ links: [LinkSummary], totals: StoryTotals) {
        self.links = Array(links.sorted { $0.number < $1.number }.prefix(Self.maximumLinks))
        begin = totals.begin ?? 0
        duration = max(totals.duration, 1)
    }

    /// The image, a file of its own.
    package var svg: String {
        let height = Self.row * Double(max(links.count, 1)) + 60
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" \
            font-family="sans-serif" font-size="12">
            """,
            #"<rect width="100%" height="100%" fill="white"/>"#,
        ]
        for step in 0...Self.steps { lines += scale(step, height) }
        for (index, link) in links.enumerated() { lines += draw(link, y: 40 + Double(index) * Self.row) }
        if links.isEmpty { lines.append(#"<text x="20" y="50">no connections</text>"#) }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func scale(_ step: Int, _ height: Double) -> [String] {
        let time = duration * Int64(step) / Int64(Self.steps)
        let x = Self.text(place(begin &+ time))
        let anchor = step == 0 ? "start" : step == Self.steps ? "end" : "middle"
        return [
            ##"<line x1="\##(x)" y1="24" x2="\##(x)" y2="\##(Int(height) - 8)" stroke="#ddd"/>"##,
            ##"<text x="\##(x)" y="16" fill="#666" text-anchor="\##(anchor)">\##(StoryWords.time(time))</text>"##,
        ]
    }

    private func draw(_ link: LinkSummary, y: Double) -> [String] {
        let (left, right) = (place(link.begin), place(link.last))
        let title = Self.escaped("\(link.number): \(link.lines[0])")
        let color = link.isEncrypted ? "#2b7a4b" : "#3b6ea5"
        var lines = [
            #"<text x="\#(Self.text(min(left, Self.width * 0.6)))" y="\#(Int(y) + 8)">\#(title)</text>"#,
            """
            <rect x="\(Self.text(left))" y="\(Int(y) + 14)" width="\(Self.text(max(right - left, 2)))" height="12" rx="2" \
            fill="\(color)"\(link.end == nil ? #" fill-opacity="0.6""# : "")><title>\(title)</title></rect>
            """,
        ]
        for mark in link.marks {
            let fill = mark.kind == .error ? "#c0392b" : "#f0b429"
            lines.append(
                """
                <circle cx="\(Self.text(place(mark.time)))" cy="\(Int(y) + 20)" r="4" fill="\(fill)" stroke="white">\
                <title>\(Self.escaped(mark.text))</title></circle>
                """
            )
        }
        return lines
    }

    private func place(_ time: Int64) -> Double {
        let share = Double(max(0, min(time &- begin, duration))) / Double(duration)
        return Self.margin + share * (Self.width - 2 * Self.margin)
    }

    /// Returns a number with one decimal.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Returns a text without markup or invisible characters.
    private static func escaped(_ text: String) -> String {
        text.visible.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }.joined()
    }
}
