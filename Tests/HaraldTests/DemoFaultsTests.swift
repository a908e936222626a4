import Accessories
import BluetoothSimulation
import Synchronization
import TestBasics
import Testing

@testable import harald

/// Faults that are typed while the demo runs, without the terminal.
@Suite struct DemoFaultsTests {
    private let pair = HeartRateWorld(seed: 3)
    private let told = Notes<String>()

    private func type(_ line: String) {
        DemoFaults(device: pair.sensor, app: "sensor", say: told.add).perform(line)
    }

    private var isFound: Bool { pair.said.withLock { $0.contains { $0.hasPrefix("app: found") } } }

    @Test func aFaultBeginsAndEnds() {
        type(" out-of-range ")
        pair.world.run(for: .seconds(10))
        #expect(!isFound)
        type("end out-of-range")
        pair.world.run(for: .seconds(10))
        #expect(isFound)
        #expect(told.all == ["fault: out-of-range", "end out-of-range"])
    }

    @Test func theDemoEndsWellInSpiteOfLostPackets() {
        type("lossy=0.3")
        #expect(pair.runToTheEnd(limit: .seconds(120)) == true)
        #expect(told.all == ["fault: lossy=0.3"])
    }

    @Test func aQuestionMarkListsAllFaults() {
        type("?")
        #expect(told.all.count == 1)
        for kind in DeviceFault.Kind.allCases { #expect(told.all[0].contains(kind.rawValue)) }
    }

    @Test func wrongLinesAreExplained() {
        for line in ["", "  ", "lossy=2", "end rain", "rain", "low-battery"] { type(line) }
        #expect(told.all.count == 4)
        #expect(told.all[0].contains("write a share of packets from 0 to 1"))
        #expect(told.all[1].contains("there is no fault \"rain\""))
        #expect(told.all[2].contains("there is no fault \"rain\""))
        #expect(told.all[3] == "only accessories of files can have the fault low-battery")
    }
}
