import BluetoothTypes
import EventLoops
import Foundation
import GAP
import ServiceMessages
import Testing

@testable import BluetoothService

/// Scans that also report devices that have gone silent.
@Suite struct PresenceScanTests {
    private struct Bench {
        let world = TestWorld()
        let phone: TestDevice
        let central: TestManager
        let near: TestDevice
        let far: TestDevice
        private let apps: [TestManager]

        init() throws {
            phone = world.device("Phone")
            central = phone.manager(.central)
            (near, far) = (world.device("Near"), world.device("Far"))
            apps = [near, far].map { $0.manager(.peripheral) }
            try apps[0].publish()
            try apps[1].publish(LocalService(id: LocalAttributeID(1), uuid: 0x180F, isPrimary: true), name: "Far")
        }

        func scan(_ patience: Duration, _ services: [BluetoothUUID]? = [Example.service]) {
            let milliseconds = Int(patience.nanoseconds / 1_000_000)
            central.send(.startScan(ScanRequest(services: services, lostAfter: milliseconds)))
            world.run(.milliseconds(100))
        }

        /// The number of devices lost within a time.
        func lost(in time: Duration) -> Int {
            central.take()
            world.run(time)
            return central.take().count { if case .central(.lost) = $0 { true } else { false } }
        }
    }

    @Test("behaviour 15.3: devices outside the scan's filter are never reported lost")
    func devicesThatAreNotAskedFor() throws {
        let bench = try Bench()
        bench.scan(.seconds(2))
        (bench.near.controller.isInRange, bench.far.controller.isInRange) = (false, false)
        #expect(bench.lost(in: .seconds(30)) == 1)
        (bench.near.controller.isInRange, bench.far.controller.isInRange) = (true, true)
        bench.scan(.seconds(2), nil)
        (bench.near.controller.isInRange, bench.far.controller.isInRange) = (false, false)
        #expect(bench.lost(in: .seconds(30)) == 2)
    }

    @Test("behaviour 15.3: each scan has its own time-out, and nothing is lost after the last scan")
    func eachScanHasItsOwnPatience() throws {
        let bench = try Bench()
        bench.scan(.seconds(100))
        bench.scan(.seconds(5))
        bench.near.controller.isInRange = false
        #expect(bench.lost(in: .milliseconds(4_500)) == 0)
        #expect(bench.lost(in: .milliseconds(600)) == 1)
        bench.near.controller.isInRange = true
        bench.world.run(.seconds(1))
        bench.near.controller.isInRange = false
        bench.central.send(.stopScan)
        #expect(bench.lost(in: .seconds(200)) == 0)
        // A scan without presence reports.
        bench.central.send(.startScan(ScanRequest(services: [Example.service])))
        #expect(bench.lost(in: .seconds(200)) == 0)
    }

    @Test("behaviour 15.3: a device that keeps advertising, reported once, is not lost")
    func aDeviceThatIsHeard() throws {
        let bench = try Bench()
        bench.scan(.seconds(1))
        #expect(bench.central.events.contains { $0.discovery != nil })
        #expect(bench.lost(in: .seconds(60)) == 0)
    }
}
