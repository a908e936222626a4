import GAP
import L2CAP
import Testing

@testable import BluetoothService

/// Signs of broken good practices that only the service sees.
@Suite struct PracticeSignTests {
    @Test("behaviour 12.28: parameters that a peer requests against the rules are a sign, others are none")
    func refusedParameters() throws {
        let pair = try Pair()
        _ = try pair.connected()
        let link = try #require(pair.phone.system.links.all.first)
        var seen: [ConnectionParameters] = []
        pair.phone.system.observers.add(.practices) {
            if case .practiced(.parametersRefused(let parameters)) = $0.content { seen.append(parameters) }
        }
        let right = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 48, latency: 0, timeout: 600)
        let wrong = ConnectionParameters(intervalMinimum: 24, intervalMaximum: 48, latency: 0, timeout: 1_801)
        #expect(link.link.parameterPolicy(right))
        #expect(seen == [])
        #expect(!link.link.parameterPolicy(wrong))
        #expect(seen == [wrong])
    }
}
