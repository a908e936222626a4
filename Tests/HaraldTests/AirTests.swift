import BluetoothSimulation
import Foundation
import LinkLayer
import Synchronization
import TestBasics
import Testing

@Suite struct AirTests {
    @Test func oneSeedGivesTheSameAirOctetForOctet() {
        func captures(seed: UInt64) -> [[UInt8]] {
            let session = HeartRateWorld(seed: seed, lossRate: 0.1, isSniffed: true, rates: 3)
            _ = session.runToTheEnd()
            return [session.airCapture.bytes, session.nearCapture.bytes]
        }
        let first = captures(seed: 7)
        #expect(first == captures(seed: 7))
        #expect(first != captures(seed: 8))
        #expect(first.allSatisfy { $0.count > 10_000 })
    }

    @Test func sniffingChangesNothing() {
        func session(isSniffed: Bool) -> [UInt8] {
            let busy = Interference.wifi(channel: 6, at: Position(x: 1), share: 0.3)
            let session = HeartRateWorld(
                seed: 7,
                lossRate: 0.1,
                interference: [busy],
                isSniffed: isSniffed,
                rates: 3
            )
            _ = session.runToTheEnd()
            return session.phoneCapture.bytes
        }
        #expect(session(isSniffed: true) == session(isSniffed: false))
    }

    /// Leaves captures in the folder that the check with tshark reads.
    @Test func capturesAreLeftForTheDecoder() throws {
        let folder = URL(fileURLWithPath: ".build/captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for seed in 1...2 as ClosedRange<UInt64> {
            // The second air is noisy, so that some frames have a wrong CRC.
            let busy = Interference.wifi(channel: 6, at: Position(x: 1), share: 0.3)
            let session = HeartRateWorld(seed: seed, interference: seed == 2 ? [busy] : [], isSniffed: true)
            #expect(session.runToTheEnd() == true)
            try Data(session.airCapture.bytes).write(to: folder.appendingPathComponent("heart-\(seed).air.pcapng"))
            try Data(session.nearCapture.bytes).write(to: folder.appendingPathComponent("heart-\(seed).near.pcapng"))
        }
    }

    // A Wi-Fi network that is busy nine tenths of the time on a third of the channels merely slows a connection down.
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func aSessionGetsThroughWiFi(seed: UInt64) {
        let busy = Interference.wifi(channel: 6, at: Position(x: 1), share: 0.9)
        let session = HeartRateWorld(seed: seed, interference: [busy], rates: 3)
        #expect(session.runToTheEnd() == true, "\(session.said.withLock { $0 })")
    }

    @Test("behaviour 3.12: a jammer ends the link")
    func aJammerThatIsSwitchedOnEndsTheLink() {
        let session = HeartRateWorld(seed: 5)
        session.world.run(for: .seconds(5))
        session.world.changeAir { $0.interference = [Interference(power: 20)] }
        #expect(session.runToTheEnd() == false)
        let said = session.said.withLock { $0 }
        #expect(said.contains("app: the link was lost: The connection has timed out unexpectedly."), "\(said)")
    }

    // The sensor no longer receives the phone; the phone loses the link too, because it receives no responses.
    @Test func oneDirectionIsEnoughToLoseALink() {
        let session = HeartRateWorld(seed: 5)
        session.world.run(for: .seconds(5))
        session.world.setQuality(AirQuality(lossRate: 1), from: session.phone, to: session.sensor)
        #expect(session.runToTheEnd() == false)
        session.world.setQuality(nil, from: session.phone, to: session.sensor)
    }
}
