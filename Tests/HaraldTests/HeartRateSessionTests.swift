import BluetoothSimulation
import EventLoops
import Foundation
import LinkLayer
import Synchronization
import TestBasics
import Testing

@Suite struct HeartRateSessionTests {
    @Test("behaviour 15.20: a whole session runs without hardware, in virtual time", arguments: [true, false])
    func aWholeSessionRunsInVirtualTime(hasExtendedAdvertising: Bool) {
        let session = HeartRateWorld(seed: 1, hasExtendedAdvertising: hasExtendedAdvertising)
        #expect(session.runToTheEnd() == true)
        let said = session.said.withLock { $0 }
        for line in [
            "sensor: advertising as \"Harald HR\"", "app: connected", "app: read: worn on the chest",
            "app: heart rate 77 bpm (1 of 10)", "app: heart rate 72 bpm (10 of 10)",
            "sensor: the energy count was reset", "sensor: a paired central reads Email Address (2A87)",
            "app: read: wearer@example.org", "app: found \"Harald HR\" again, with the same identifier",
            "sensor: a central unsubscribed from Heart Rate Measurement (2A37)",
            "app: disconnected",
        ] {
            #expect(said.contains(line), "nobody said: \(line)")
        }
        #expect(said.contains { $0.hasPrefix("app: found \"Harald HR\" at -") })
    }

    @Test func decliningPairingKeepsTheSession() {
        let session = HeartRateWorld(seed: 1, pairs: false)
        #expect(session.runToTheEnd() == true)
        let said = session.said.withLock { $0 }
        #expect(said.contains("app: the sensor refuses: Authentication is insufficient."), "\(said)")
        #expect(!said.contains("sensor: a paired central reads Email Address (2A87)"))
        #expect(said.last == "app: disconnected")
    }

    /// Protected values are encrypted on the air.
    @Test func theAirShowsCiphertext() {
        let session = HeartRateWorld(seed: 1, isSniffed: true, rates: 1)
        #expect(session.runToTheEnd() == true)
        func shows(_ text: String, _ bytes: [UInt8]) -> Bool {
            Data(bytes).range(of: Data(text.utf8)) != nil
        }
        #expect(shows("wearer@example.org", session.phoneCapture.bytes))
        #expect(!shows("wearer@example.org", session.airCapture.bytes))
        #expect(shows("Harald HR", session.airCapture.bytes))
    }

    @Test("a seed determines every octet of the packets, and another seed differs", arguments: [true, false])
    func oneSeedGivesTheSamePacketsAndAnotherGivesOthers(hasExtendedAdvertising: Bool) {
        func captures(seed: UInt64) -> [[UInt8]] {
            let session = HeartRateWorld(seed: seed, hasExtendedAdvertising: hasExtendedAdvertising)
            _ = session.runToTheEnd()
            return [session.phoneCapture.bytes, session.sensorCapture.bytes]
        }
        let first = captures(seed: 7)
        #expect(first == captures(seed: 7))
        #expect(first != captures(seed: 8))
        #expect(first.allSatisfy { $0.count > 1_000 })
    }

    /// Leaves captures in the folder that the check with tshark reads.
    @Test func capturesAreLeftForTheDecoder() throws {
        let folder = URL(fileURLWithPath: ".build/captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for seed in 1...3 as ClosedRange<UInt64> {
            let session = HeartRateWorld(seed: seed, lossRate: seed == 3 ? 0.2 : 0)
            _ = session.runToTheEnd()
            try Data(session.phoneCapture.bytes)
                .write(to: folder.appendingPathComponent("heart-\(seed).phone.btsnoop"))
            try Data(session.sensorCapture.bytes)
                .write(to: folder.appendingPathComponent("heart-\(seed).sensor.btsnoop"))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func aLossyAirOnlyTakesLonger(seed: UInt64) {
        let session = HeartRateWorld(seed: seed, lossRate: 0.1, rates: 3)
        #expect(session.runToTheEnd() == true, "seed \(seed): \(session.said.withLock { $0 })")
    }

    @Test("behaviour 3.12: a sensor that is carried away is lost")
    func aSensorThatIsCarriedAwayIsLost() {
        let session = HeartRateWorld(seed: 5)
        session.world.run(for: .seconds(5))
        session.sensor.move(to: Position(x: 100_000))
        let moved = session.world.now
        #expect(session.runToTheEnd() == false)
        let said = session.said.withLock { $0 }
        #expect(said.contains("app: the link was lost: The connection has timed out unexpectedly."), "\(said)")
        // 720 ms is the supervision timeout set by the central (behaviour 3.26).
        #expect(session.world.now - moved < .seconds(2))
    }

    @Test("behaviour 1.11: turning the phone's Bluetooth off ends the link without a disconnect callback")
    func switchingThePhoneOffEndsTheLinkWithoutACallback() {
        let session = HeartRateWorld(seed: 6)
        session.world.run(for: .seconds(5))
        session.phone.setPower(false)
        session.world.run(for: .seconds(2))
        let said = session.said.withLock { $0 }
        #expect(said.contains("app: Bluetooth is off"))
        #expect(!said.contains { $0.hasPrefix("app: disconnected") || $0.hasPrefix("app: the link was lost") })
        #expect(said.contains("sensor: a central unsubscribed from Heart Rate Measurement (2A37)"))
    }

    @Test func trafficIsCounted() {
        let session = HeartRateWorld(seed: 1)
        _ = session.runToTheEnd()
        for device in [session.phone, session.sensor] {
            let traffic = device.traffic
            #expect(traffic.packetsToController > 30)
            #expect(traffic.packetsToHost > 30)
            #expect(traffic.sending > .milliseconds(10))
            #expect(traffic.listening > .milliseconds(10))
        }
    }
}
