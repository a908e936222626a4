import CoreMetrics
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

@Suite struct ServiceMetricsTests {
    private func value(_ name: String, in text: MetricsText) -> String? {
        text.text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last.map(String.init)
    }

    @Test("requests, events and managers are counted individually")
    func requestsAndEventsAreCounted() {
        let (world, text) = (ClientWorld(), MetricsText())
        let metrics = world.phone.withSystem { [loop = world.world.loop] system in
            LoopBound(ServiceMetrics(of: system, factory: text), loop: loop)
        }
        #expect(value("harald_managers", in: text) == "0")
        #expect(value("harald_requests_total", in: text) == "0")
        let client = world.connect().greeting()
        client.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        client.send(.openManager(ManagerID(2), .peripheral, ManagerOptions()))
        client.send(.request(ManagerID(1), .central(.stopScan)))
        client.send(.query(ManagerID(1), number: 1, .peripherals(identifiers: [])))
        client.send(.misuse("twice"))
        #expect(value("harald_managers", in: text) == "2")
        #expect(value("harald_requests_total", in: text) == "2")
        #expect(value("harald_events_total", in: text) == "2")
        #expect(value("harald_misuse_total", in: text) == "1")
        client.die()
        #expect(value("harald_managers", in: text) == "0")
        #expect(text.text.contains("# TYPE harald_managers gauge\n"))
        #expect(text.text.contains("_total counter\n"))
        withExtendedLifetime(metrics) {}
    }

    @Test func namesAreThoseThatPrometheusTakes() {
        let text = MetricsText()
        text.makeCounter(label: "a.b-c d", dimensions: []).increment(by: 3)
        text.makeMeter(label: "half", dimensions: []).set(0.5)
        #expect(text.text == "# TYPE a_b_c_d counter\na_b_c_d 3\n# TYPE half gauge\nhalf 0.5\n")
        for number in 0..<2 * MetricsText.maximumNames {
            text.makeCounter(label: "n\(number)", dimensions: []).increment(by: 1)
        }
        #expect(text.text.split(separator: "\n").count == 2 * MetricsText.maximumNames)
    }
}
