import BluetoothTypes
import EventLoops
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Scans that also report devices that have gone silent.
@Suite struct PresenceScanTests {
    /// A phone that scans, and two devices that advertise different services.
    private struct NearAndFar {
        let world = ServiceWorld()
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
            try apps[1].publish(Example.emptyBattery, name: "Far")
        }

        func scan(_ timeout: Duration, _ services: [BluetoothUUID]? = [Example.service]) {
            let milliseconds = Int(timeout.nanoseconds / 1_000_000)
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
        let devices = try NearAndFar()
        devices.scan(.seconds(2))
        (devices.near.controller.isInRange, devices.far.controller.isInRange) = (false, false)
        #expect(devices.lost(in: .seconds(30)) == 1)
        (devices.near.controller.isInRange, devices.far.controller.isInRange) = (true, true)
        devices.scan(.seconds(2), nil)
        (devices.near.controller.isInRange, devices.far.controller.isInRange) = (false, false)
        #expect(devices.lost(in: .seconds(30)) == 2)
    }

    @Test("behaviour 15.3: each scan has its own time-out, and nothing is lost after the last scan")
    func eachScanHasItsOwnTimeout() throws {
        let devices = try NearAndFar()
        devices.scan(.seconds(100))
        devices.scan(.seconds(5))
        devices.near.controller.isInRange = false
        #expect(devices.lost(in: .milliseconds(4_500)) == 0)
        #expect(devices.lost(in: .milliseconds(600)) == 1)
        devices.near.controller.isInRange = true
        devices.world.run(.seconds(1))
        devices.near.controller.isInRange = false
        devices.central.send(.stopScan)
        #expect(devices.lost(in: .seconds(200)) == 0)
        // A scan without presence reports.
        devices.central.send(.startScan(ScanRequest(services: [Example.service])))
        #expect(devices.lost(in: .seconds(200)) == 0)
    }

    @Test("behaviour 15.3: a device that keeps advertising, reported once, is not lost")
    func aDeviceThatIsHeard() throws {
        let devices = try NearAndFar()
        devices.scan(.seconds(1))
        #expect(devices.central.events.contains { $0.discovery != nil })
        #expect(devices.lost(in: .seconds(60)) == 0)
    }
}
