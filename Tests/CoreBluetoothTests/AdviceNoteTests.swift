import SampleMessages
import ServiceMessages
import ServiceStandIns
import Synchronization
import Testing

@testable import CoreBluetooth

/// The notes of `CoreBluetooth` for advice: signs that the service cannot see.
@Suite struct AdviceNoteTests {
    private let listening = CallSites.Listening()

    @Test("behaviour 12.20: a write without room is noted, one with room is not")
    func writes() {
        let (app, characteristic) = CentralApp.exploring()
        while app.peripheral.canSendWriteWithoutResponse {
            app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        }
        #expect(app.service.notes.isEmpty)
        app.peripheral.writeValue(Data([2]), for: characteristic, type: .withoutResponse)
        #expect(app.service.notes == [.writeWithoutRoom(app.peer)])
    }

    @Test(
        "behaviour 12.20: a second update before the callback is noted; the first refused one, and one after it, are not"
    )
    func updates() {
        let app = PeripheralApp.published()
        func update() -> Bool { app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil) }
        for _ in 1...2 {
            while update() {}
            #expect(app.service.notes.isEmpty)
            app.service.deliver(.updateCreditsReturned(count: 1))
        }
        while update() {}
        _ = update()
        #expect(app.service.notes == [.updateWithoutRoom])
    }

    @Test("behaviour 12.24: a command of a manager whose state was never read is noted once")
    func unreadState() {
        let service = StandInService()
        let manager = service.run { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        service.deliver(.stateChanged(.poweredOn))
        manager.scanForPeripherals(withServices: nil)
        manager.stopScan()
        #expect(service.notes == [.stateUnread])
    }

    @Test("behaviour 12.24: a state that was read at any time is right, as is a manager that is not used")
    func readState() {
        let service = StandInService()
        let manager = service.run { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        service.deliver(.stateChanged(.poweredOn))
        #expect(service.notes.isEmpty)
        #expect(manager.state == .poweredOn)
        manager.scanForPeripherals(withServices: nil)
        #expect(service.notes.isEmpty)
    }

    private final class Restored: NSObject, CBCentralManagerDelegate {
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
    }

    private final class Forgetful: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    @Test("behaviour 12.27: a restored manager whose delegate leaves willRestoreState out is noted, for both roles")
    func restoration() {
        let queue = DispatchQueue(label: "app")
        let (service, other, third) = (StandInService(), StandInService(), StandInService())
        let (restored, forgetful) = (Restored(), Forgetful())
        let manager = service.run { CBCentralManager(delegate: restored, queue: queue) }
        service.deliver(.central(.willRestore(RestoredCentral())))
        #expect(service.notes.isEmpty)
        let second = other.run { CBCentralManager(delegate: forgetful, queue: queue) }
        other.deliver(.central(.willRestore(RestoredCentral())))
        #expect(other.notes == [.restorationIgnored])
        let peripheral = third.run { CBPeripheralManager(delegate: forgetful, queue: queue) }
        third.deliver(.peripheral(.willRestore(RestoredPeripheral())))
        #expect(third.notes == [.restorationIgnored])
        withExtendedLifetime((manager, second, peripheral)) {}
    }

    @Test("behaviour 12.29: a callback of more than 100 ms is noted if the next one waited, with its time")
    func slowCallbacks() {
        let service = StandInService()
        let now = Mutex(Duration.zero)
        let pace = CallbackPace(service) { now.withLock { $0 } }
        func call(lasting milliseconds: Int, after pause: Int = 0) {
            now.withLock { $0 += .milliseconds(pause) }
            pace.measure { now.withLock { $0 += .milliseconds(milliseconds) } }
        }
        call(lasting: 250)
        #expect(service.notes.isEmpty)
        call(lasting: 1)
        #expect(service.notes == [.slowCallback(milliseconds: 250)])
        call(lasting: 100)
        call(lasting: 0)
        call(lasting: 101)
        call(lasting: 0, after: 2)
        call(lasting: 0)
        #expect(service.notes.count == 1)
        call(lasting: 101)
        call(lasting: 0, after: 1)
        #expect(service.notes.count == 2)
    }
}
