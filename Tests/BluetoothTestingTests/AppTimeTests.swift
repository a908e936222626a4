import BluetoothTesting
import CoreBluetooth
import Foundation
import Synchronization
import Testing

/// Connects to a device, as apps on phones do, and gives up after 10 s by a timer of the system.
private final class ConnectingApp: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: used on the main queue only, where the callbacks arrive.

    enum Timing: CaseIterable {
        case asyncAfter
        case workItem
        case dispatchTimer
        case timer
        case taskSleep
    }

    private let timing: Timing
    private let note: @Sendable (String) -> Void
    private var manager: CBCentralManager?
    private var device: CBPeripheral?
    private var dispatchTimer: (any DispatchSourceTimer)?

    init(_ timing: Timing, note: @escaping @Sendable (String) -> Void) {
        self.timing = timing
        self.note = note
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        device = peripheral
        note("found")
        central.connect(peripheral)
        limit()
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { note("connected") }

    private func limit() {
        let found = Date()
        let giveUp: @Sendable () -> Void = { [weak self] in self?.giveUp(since: found) }
        switch timing {
        case .asyncAfter: DispatchQueue.main.asyncAfter(deadline: .now() + 10, execute: giveUp)
        case .workItem: DispatchQueue.main.asyncAfter(deadline: .now() + 10, execute: DispatchWorkItem(block: giveUp))
        case .dispatchTimer:
            let timer = DispatchSource.makeTimerSource(queue: .main)
            timer.schedule(deadline: .now() + 10)
            timer.setEventHandler(handler: giveUp)
            timer.resume()
            dispatchTimer = timer
        case .timer: _ = Timer.scheduledTimer(withTimeInterval: 10, repeats: false) { _ in giveUp() }
        case .taskSleep:
            Task { @MainActor in
                try await Task.sleep(for: .seconds(10))
                giveUp()
            }
        }
    }

    private func giveUp(since found: Date) {
        guard let device, device.state != .connected else { return }
        manager?.cancelPeripheralConnection(device)
        note(String(format: "gave up after %.3f s", Date().timeIntervalSince(found)))
    }
}

// ThreadSanitizer leaves apps the clock of the machine.
@Suite(.world, .enabled(if: VirtualAppTime.isSupported)) struct AppTimeTests {
    private final class Advertiser: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
        private var manager: CBPeripheralManager?

        override init() {
            super.init()
            manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "device"))
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            if peripheral.state == .poweredOn {
                peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: "Device"])
            }
        }
    }

    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test(arguments: ConnectingApp.Timing.allCases)
    fileprivate func anAppGivesUpAfterTenSecondsOfTheWorld(timing: ConnectingApp.Timing) async {
        let journal = Journal()
        let device = world.addDevice(named: "Device", .accessory)
        device.launch("device") { _ in Advertiser() }
        world.addDevice(named: "Phone").launch("connector") { _ in
            ConnectingApp(timing) { line in
                // The device is gone as soon as it is found.
                if line == "found" { device.leaveRange() }
                journal.note(line)
            }
        }
        await world.until(within: .seconds(60)) { journal.all.count == 2 }
        #expect(journal.all == ["found", "gave up after 10.000 s"])
    }

    @Test(.world(appTime: .machine)) func anAppMayFollowTheClockOfTheMachine() async {
        let seen = Mutex<Date?>(nil)
        world.addDevice(named: "Phone").launch("app") { _ in seen.withLock { $0 = Date() } }
        await world.run(for: .seconds(1))
        let date = seen.withLock { $0 } ?? .distantPast
        // The calendar of the world begins with 2001.
        #expect(date > Date(timeIntervalSinceReferenceDate: 20 * 365 * 86_400))
    }
}
