import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation

/// Simulates thousands of advertisers on one radio.
struct CrowdCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "crowd",
        abstract: "Simulate thousands of advertisers on one radio, beside the contention model.",
        discussion: """
            Phones whose apps advertise in the background, and accessories, advertise within range of each other. Observers scan \
            without pauses, as Harald does for apps in the foreground, and as it does for apps in the background. The command \
            prints lost advertisements, reports, discovery times, and how often services share a bit of Apple's overflow area: \
            for the whole crowd, a half of it, a quarter and so on down to 1/32. After each value, brackets contain the value \
            that theory expects. In the charts, points are simulated and lines are expected.

            Each device only advertises, with connectable legacy packets on the three primary channels. Packets that overlap on a \
            channel are lost. The simulation leaves out distance, signal strength and the capture effect, scan requests and \
            responses, connections, interference, and drift of clocks. So it loses everything in a large crowd, where near devices \
            would still be received. The default interval, 1285 ms, is the slowest that Apple recommends for accessories. Apple \
            does not publish that of phones. The same seed gives the same result.

            Examples:
              harald crowd
              harald crowd --svg crowd.svg
              harald crowd --phones 500 --accessories 50 --seconds 10 --json

            \(ExitStatus.text())
            """
    )

    @Option(help: ArgumentHelp("The number of phones.", valueName: "N"))
    var phones = CrowdConfiguration().phones

    @Option(help: ArgumentHelp("The number of accessories.", valueName: "N"))
    var accessories = CrowdConfiguration().accessories

    @Option(help: ArgumentHelp("The simulated time.", valueName: "S"))
    var seconds = CrowdConfiguration().seconds

    @Option(help: ArgumentHelp("The seed of the simulation.", valueName: "N"))
    var seed = CrowdConfiguration().seed

    @Option(help: ArgumentHelp("The advertising interval of phones, in milliseconds, 20 to 10240.", valueName: "MS"))
    var phoneInterval = milliseconds(CrowdConfiguration().phoneInterval)

    @Option(
        help: ArgumentHelp("The advertising interval of accessories, in milliseconds, 20 to 10240.", valueName: "MS")
    )
    var accessoryInterval = milliseconds(CrowdConfiguration().accessoryInterval)

    @Option(help: ArgumentHelp("The largest number of services in an overflow area, 1 to 128.", valueName: "N"))
    var services = CrowdConfiguration().services

    @Option(
        help: ArgumentHelp("Write charts to this file.", valueName: "FILE"),
        completion: .file(extensions: ["svg"])
    )
    var svg: String?

    @OptionGroup var showing: ShowingOptions

    func validate() throws {
        let devices = 0...CrowdConfiguration.maximumDevices
        for (name, value) in [("--phones", phones), ("--accessories", accessories)] where !devices.contains(value) {
            throw ValidationError("\(name) is 0 to \(devices.upperBound)")
        }
        guard phones + accessories > 0 else { throw ValidationError("a crowd has at least one device") }
        guard (1...CrowdConfiguration.maximumSeconds).contains(seconds) else {
            throw ValidationError("--seconds is 1 to \(CrowdConfiguration.maximumSeconds)")
        }
        guard (1...CrowdConfiguration.maximumServices).contains(services) else {
            throw ValidationError("--services is 1 to \(CrowdConfiguration.maximumServices)")
        }
        for (name, value) in [("--phone-interval", phoneInterval), ("--accessory-interval", accessoryInterval)] {
            try Self.validate(interval: value, of: name)
        }
    }

    private static func validate(interval: Double, of option: String) throws {
        let intervals = CrowdConfiguration.intervals
        let (low, high) = (milliseconds(intervals.lowerBound), milliseconds(intervals.upperBound))
        guard interval >= low, interval <= high else {
            throw ValidationError("\(option) is \(text(low)) to \(text(high)) milliseconds")
        }
        let slots = (interval / 0.625).rounded()
        guard abs(slots * 0.625 - interval) < 1e-6 else {
            throw ValidationError(
                "\(option) is a multiple of 0.625 milliseconds; the next one is \(text(slots * 0.625))"
            )
        }
    }

    func execute() throws(ToolError) {
        let output = report
        if let svg { try writing { () throws(OutputFile.Failure) in try OutputFile.check(svg) } }
        let report = CrowdReport(crowd) { output.say("simulating \(count($0, "device"))") }
        output.show(report, as: CrowdText(report: report, crowd: self).lines)
        guard let svg else { return }
        try writing { () throws(OutputFile.Failure) in try OutputFile.write(Array(report.svg.utf8), to: svg) }
    }

    private func writing(_ body: () throws(OutputFile.Failure) -> Void) throws(ToolError) {
        do throws(OutputFile.Failure) {
            try body()
        } catch {
            throw .incomplete("cannot write \(error.path.visible): \(error.reason); name another file with --svg")
        }
    }

    private var crowd: CrowdConfiguration {
        var crowd = CrowdConfiguration()
        crowd.phones = phones
        crowd.accessories = accessories
        crowd.seconds = seconds
        crowd.seed = seed
        crowd.phoneInterval = .microseconds(Int64((phoneInterval * 1_000).rounded()))
        crowd.accessoryInterval = .microseconds(Int64((accessoryInterval * 1_000).rounded()))
        crowd.services = services
        return crowd
    }

    private static func milliseconds(_ duration: Duration) -> Double { Double(duration.microseconds) / 1_000 }
    static func text(_ milliseconds: Double) -> String { String(format: "%g", milliseconds) }
}

extension CrowdReport: ReportDocument {
    static let event = "crowd"
}

/// The results of a crowd, for people.
struct CrowdText {
    /// The smallest expected number of reports to one observer of which the deviation says something: chance alone
    /// makes one part in the square root of it, 2.2 %.
    static let significantReports = 2_000.0

    let report: CrowdReport
    let crowd: CrowdCommand

    var lines: [String] {
        let intervals = [crowd.phoneInterval, crowd.accessoryInterval].map(CrowdCommand.text)
        let header = """
            \(report.seconds) s with intervals of \(intervals[0]) and \(intervals[1]) ms, seed \(report.seed); in brackets \
            what theory expects
            """
        return [header] + report.crowds.flatMap(lines) + overflow + ["", conclusion]
    }

    private func lines(_ crowd: CrowdStatistics) -> [String] {
        let losses = Self.spread(crowd.losses) { "\($0) lose at most \(Self.percent($1))" }
        let lost = "\(Self.percent(crowd.lost)) (\(Self.percent(crowd.lostExpected)))"
        return ["", crowd.text, "  lost: \(lost) of \(count(crowd.sent, "PDU")); of the devices\(losses)"]
            + crowd.scans.map(Self.line)
    }

    private static func line(_ scan: CrowdStatistics.Scan) -> String {
        let rate = String(format: "%.2f (%.2f)", scan.reportsPerSecond, scan.reportsPerSecondExpected)
        let found = scan.discovery.last.map { "\(percent($0.devices)) (\(percent($0.expected)))" } ?? ""
        let times = spread(scan.discovery) { "\($0) in \(short($1)) s" }
        return "  \(scan.name) scan: \(rate) reports/s; discovered \(found)\(times.isEmpty ? "" : ":" + times)"
    }

    /// The values that a tenth, a half and nine tenths of the devices do not exceed, as far as the distribution goes.
    private static func spread(_ points: [CrowdStatistics.Point], _ text: (String, Double) -> String) -> String {
        let texts = [(0.1, "10 %"), (0.5, "50 %"), (0.9, "90 %")].compactMap { fraction, name in
            CrowdStatistics.quantile(fraction, of: points).map { " " + text(name, $0) }
        }
        return texts.joined(separator: ",")
    }

    private var overflow: [String] {
        ["", "overflow area"]
            + report.overflow.map { study in
                let shared = "\(Self.percent(study.shared)) (\(Self.percent(study.sharedExpected)))"
                let matches = "\(Self.percent(study.falseMatches)) (\(Self.percent(study.falseMatchesExpected)))"
                let services = count(study.services, "service")
                return "  \(services): shared bits on \(shared) of the phones; false matches \(matches)"
            }
    }

    private var conclusion: String {
        guard let deviation = report.largestDeviation(ofAtLeast: Self.significantReports) else {
            return "no observer receives reports enough to compare their rate with the contention model"
        }
        return """
            report rates differ by at most \(Self.percent(deviation)) from the contention model where it expects \
            \(Int(Self.significantReports)) reports or more; chance alone makes \(Self.percent(1 / Self.significantReports.squareRoot())) of so few
            """
    }

    private static func percent(_ value: Double) -> String { String(format: "%.1f %%", value * 100) }
    private static func short(_ value: Double) -> String { String(format: "%.3g", value) }
}
