import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct LogBudgetTests {
    private let one = AppIdentity(name: "one")
    private let other = AppIdentity(name: "other")

    @Test(
        "AB-G05: an app's misuse log lines per minute are bounded, and do not suppress those of another app"
    )
    func misuseLinesAreBounded() {
        var budget = LogBudget<AppIdentity>()
        let verdicts = (0..<100).map { budget.verdict(on: one, at: .zero + .milliseconds($0)) }
        #expect(verdicts.count { $0 == .log } == LogBudget<AppIdentity>.maximumLines - 1)
        #expect(verdicts[LogBudget<AppIdentity>.maximumLines - 1] == .logAsLast)
        #expect(verdicts[LogBudget<AppIdentity>.maximumLines...].allSatisfy { $0 == .drop })
        #expect(budget.verdict(on: other, at: .zero) == .log)
        #expect(budget.verdict(on: one, at: .zero + LogBudget<AppIdentity>.period - .milliseconds(1)) == .drop)
        #expect(budget.verdict(on: one, at: .zero + LogBudget<AppIdentity>.period) == .log)
    }

    @Test("AB-G05: a misuse log line names the request, and contains no data of the app")
    func aRequestIsNamed() {
        let services = (0..<1_000).map { BluetoothUUID(high: 1, low: $0) }
        #expect(Request.central(.startScan(ScanRequest(services: services))).name == "startScan")
        #expect(Request.central(.peer(.blank, .link(.discoverServices(services)))).name == "discoverServices")
        #expect(Request.central(.peer(.blank, .ask(3, .readRSSI))).name == "readRSSI")
        #expect(Request.peripheral(.stopAdvertising).name == "stopAdvertising")
    }
}
