import ArgumentParser
import Testing

@testable import harald

@Suite struct CrowdCommandTests {
    @Test(arguments: [
        (["--phones", "0", "--accessories", "0"], "a crowd has at least one device"),
        (["--phones", "100001"], "--phones is 0 to 100000"), (["--seconds", "0"], "--seconds is 1 to 3600"),
        (["--services", "129"], "--services is 1 to 128"),
        (["--phone-interval", "19"], "--phone-interval is 20 to 10240 milliseconds"),
        (["--accessory-interval", "nan"], "--accessory-interval is 20 to 10240 milliseconds"),
        (
            ["--accessory-interval", "152"],
            "--accessory-interval is a multiple of 0.625 milliseconds; the next one is 151.875"
        ),
    ])
    func wrongValuesAreExplained(arguments: [String], message: String) {
        let error = #expect(throws: (any Error).self) { try CrowdCommand.parse(arguments) }
        #expect(error.map { CrowdCommand.message(for: $0) } == message)
    }

    @Test func theTextHasEachPart() throws {
        let command = try CrowdCommand.parse(["--phone-interval", "417.5"])
        var crowd = CrowdConfiguration()
        (crowd.phones, crowd.accessories, crowd.seconds, crowd.services) = (1, 1, 5, 2)
        let lines = CrowdText(report: CrowdReport(crowd), crowd: command).lines
        #expect(
            lines.first == "5 s with intervals of 417.5 and 1285 ms, seed 1; in brackets what theory expects"
        )
        #expect(lines.contains("1 phone and 1 accessory"))
        for part in ["  lost: ", "  continuous scan: ", "  foreground scan: ", "  background scan: ", "  2 services: "]
        {
            #expect(lines.count { $0.hasPrefix(part) } == 1, "\(part)")
        }
        #expect(lines.last == "no observer receives reports enough to compare their rate with the contention model")
    }
}
