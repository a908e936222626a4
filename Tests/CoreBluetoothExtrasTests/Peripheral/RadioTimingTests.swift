import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import Synchronization
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite struct RadioTimingTests {
    @Test(
        "behaviour 15.17: the API exposes the bit of a service in the overflow area, as observed by others",
        arguments: [
            ("C007", 35), ("C008", 60), ("1001", 62), ("3333", 62), ("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", 84),
            ("0000C007-0000-1000-8000-00805F9B34FB", 35),
        ]
    )
    func overflowBits(text: String, bit: Int) {
        #expect(CBUUID(string: text).overflowBit == bit)
    }

    @Test("behaviour 15.18: the documented timings equal those on the air")
    func times() {
        #expect(RadioTiming.scanInterval == .milliseconds(60))
        #expect(RadioTiming.scanWindow == .milliseconds(30))
        #expect(RadioTiming.advertisingInterval == .milliseconds(20))
        #expect(RadioTiming.backgroundScanInterval == .milliseconds(1_280))
        #expect(RadioTiming.backgroundScanWindow == .microseconds(11_250))
        #expect(RadioTiming.backgroundAdvertisingInterval == .microseconds(417_500))
        #expect(RadioTiming.laterAdvertisingInterval == .microseconds(152_500))
        #expect(RadioTiming.connectionInterval == .milliseconds(30))
        let world = PeripheralWorld().published()
        // Each event sends on three channels, so the share of sending time follows from the interval and the random
        // delay.
        func sightings(_ seconds: Double) -> Double {
            let before = world.sensor.traffic.sending
            world.run(seconds)
            return (world.sensor.traffic.sending - before) / .seconds(seconds)
        }
        world.run(1)
        let first = sightings(20)
        world.run(20)
        let later = sightings(20)
        let lot = Duration.milliseconds(5)
        let ratio = (RadioTiming.laterAdvertisingInterval + lot) / (RadioTiming.advertisingInterval + lot)
        #expect(abs(first / later / ratio - 1) < 0.05, "\(first / later) instead of \(ratio)")
        #expect(RadioTiming.fastAdvertisingPeriod == .seconds(30))
    }

    @Test(
        "behaviour 15.18: a scan without duplicates reports a device once, however long it runs, and again after a restart"
    )
    func reports() {
        let world = PeripheralWorld().published()
        let finder = world.world.addDevice(named: "Finder").launch("finder") { _ in Finder() }
        world.run(600)
        #expect(finder.count.value == 1)
        #expect(RadioTiming.reportInterval == nil)
        finder.scan()
        world.run(1)
        #expect(finder.count.value == 2)
    }

    @Test(
        "behaviour 15.27: a value sent every 100 ms for a minute never takes longer than two connection events"
    )
    func latency() {
        let world = PeripheralWorld().published()
        let phone = world.phone()
        world.world.run(for: .seconds(10)) { phone.notes.all == ["subscribed"] }
        world.run(2)
        let longest = Mutex(Duration.zero)
        for number in 0..<600 {
            let before = world.world.now
            world.app.task { try await world.manager.update(Data("\(number)".utf8), for: world.characteristic) }
            world.world.run(for: .milliseconds(100)) { phone.notes.all.last == "value \(number)" }
            let taken = world.world.now - before
            longest.withLock { $0 = max($0, taken) }
            world.world.run(for: .milliseconds(100) - taken)
        }
        #expect(longest.withLock { $0 } <= RadioTiming.connectionInterval * 2, "\(longest.withLock { $0 })")
    }

    @Test(
        "behaviour 15.14: a link lingers after its last app has cancelled, if the device is configured that way",
        arguments: [0, 5]
    )
    func linger(_ seconds: Int) {
        let world = PeripheralWorld().published()
        var options = DeviceOptions()
        options.linger = .seconds(seconds)
        let device = world.world.addDevice(named: "Phone", at: Position(x: 1), options: options)
        let phone = device.launch("phone") { _ in Phone(device, subscribes: false) }
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        let connected = Mutex(0)
        let stream = world.manager.centralConnections
        world.app.task {
            for try await event in stream {
                if case .connected = event { connected.withLock { $0 += 1 } } else { connected.withLock { $0 -= 1 } }
            }
        }
        phone.disconnect()
        world.run(2)
        #expect(phone.notes.all.last == "disconnected")
        #expect(connected.withLock { $0 } == (seconds > 0 ? 1 : 0))
        world.run(5)
        #expect(connected.withLock { $0 } == 0)
    }
}

/// An app that scans, and counts its discoveries.
private final class Finder: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: set once before any callback.
    private var manager: CBCentralManager!
    let count = CounterPeripheral()

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "finder"))
    }

    func scan() {
        manager.stopScan()
        manager.scanForPeripherals(withServices: [PeripheralWorld.service])
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { scan() }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) { count.add() }
}
