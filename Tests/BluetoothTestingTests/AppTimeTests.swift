import AppStandIns
import BluetoothTesting
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

/// Connects to a device, as apps on phones do, and gives up after 10 s by a timer of the system.
private final class ConnectingApp: CentralStandIn, @unchecked Sendable {
    enum Timing: CaseIterable {
        case asyncAfter
        case workItem
        case dispatchTimer
        case timer
        case taskSleep
    }

    private let timing: Timing
    private let note: @Sendable (String) -> Void
    // Safe: used on the main queue only, where the callbacks arrive.
    private var dispatchTimer: (any DispatchSourceTimer)?

    init(_ timing: Timing, note: @escaping @Sendable (String) -> Void) {
        self.timing = timing
        self.note = note
        super.init(seeking: nil, on: .main)
    }

    override func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        note("found")
        super.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
        limit()
    }

    override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { note("connected") }

    private func limit() {
        let start = Date()
        let giveUp: @Sendable () -> Void = { [weak self] in self?.giveUp(since: start) }
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

    private func giveUp(since start: Date) {
        guard let found, found.state != .connected else { return }
        manager?.cancelPeripheralConnection(found)
        note(String(format: "gave up after %.3f s", Date().timeIntervalSince(start)))
    }
}

// ThreadSanitizer leaves apps the clock of the machine.
@Suite(.world, .enabled(if: VirtualAppTime.isSupported)) struct AppTimeTests {
    @Test(arguments: ConnectingApp.Timing.allCases)
    fileprivate func anAppGivesUpAfterTenSecondsOfTheWorld(timing: ConnectingApp.Timing) async {
        let journal = Notes<String>()
        let device = world.addDevice(named: "Device", .accessory)
        device.launch("device") { _ in PeripheralStandIn("Device") }
        world.addDevice(named: "Phone").launch("connector") { _ in
            ConnectingApp(timing) { line in
                // The device is gone as soon as it is found.
                if line == "found" { device.leaveRange() }
                journal.add(line)
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
