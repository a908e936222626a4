import BluetoothTypes
import EventLoops
import Foundation
import SampleMessages
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService

/// The requests that a manager has to repeat, one by one (behaviour 10.15).
@Suite struct WishesTests {
    private func peer(_ number: UInt8) -> UUID { UUID([UInt8](repeating: number, count: 16)) }
    private func connect(_ number: UInt8) -> Request { .central(.peer(peer(number), .connect(ConnectOptions()))) }

    private func add(_ number: UInt32) -> Request {
        .peripheral(.addService(LocalService(id: .init(number), uuid: 0x180D, isPrimary: true, characteristics: [])))
    }

    private func scan(_ service: UInt16) -> Request { .central(.startScan(ScanRequest(services: [.init(service)]))) }

    private let advertise = Request.peripheral(.startAdvertising(AdvertisingRequest(localName: "Belt")))

    @Test("behaviour 10.15: a central asks for its last scan and then for each peer once, in one order")
    func centrals() {
        var wishes = [Request]().after(connect(2)).after(scan(1)).after(connect(1)).after(connect(2))
        #expect(wishes == [scan(1), connect(1), connect(2)])
        wishes = wishes.after(scan(2))
        #expect(wishes == [scan(2), connect(1), connect(2)])
        wishes = wishes.after(.central(.peer(peer(1), .cancelConnection))).after(.central(.stopScan))
        #expect(wishes == [connect(2)])
        #expect(wishes.after(.central(.peer(peer(2), .forget))).isEmpty)
        #expect(wishes.after(.central(.resetScanFilter)) == wishes)
    }

    @Test("behaviour 10.15: a peripheral asks for each service once, in the order of publishing, and then advertises")
    func peripherals() {
        var wishes = [Request]().after(advertise).after(add(2)).after(add(1)).after(add(2)).after(advertise)
        #expect(wishes == [add(2), add(1), advertise])
        wishes = wishes.after(.peripheral(.removeService(.init(2))))
        #expect(wishes == [add(1), advertise])
        #expect(wishes.after(.peripheral(.stopAdvertising)) == [add(1)])
        #expect(wishes.after(.peripheral(.removeAllServices)) == [advertise])
        #expect(wishes.after(.peripheral(.removeService(.init(7)))) == wishes)
    }

    @Test("behaviour 1.18, AB-G07: what an app that may no longer use Bluetooth has postponed of peers is void")
    func postponedOfPeers() {
        let world = TestWorld()
        let phone = world.device("Phone")
        let collector = phone.manager(.central)
        let manager = phone.system.centrals.first?.manager
        manager?.postpone([scan(1), connect(1)], in: .unknown)
        manager?.tell(.stateChanged(.poweredOff), on: world.loop)
        #expect(manager?.postponed.count == 2)
        manager?.tell(.stateChanged(.unauthorized), on: world.loop)
        #expect(manager?.postponed == [scan(1)])
        withExtendedLifetime(collector) {}
    }

    @Test("behaviour 9.1: in virtual time what an app is called with waits while it is suspended")
    func callsOfASuspendedApp() {
        let world = TestWorld()
        let phone = world.device("Phone")
        let app = phone.app("Collector")
        let count = Atomic(0)
        let queue = SerialQueue("app")
        app.happened(.left)
        app.happened(.timeIsUp)
        app.call({ count.add(1, ordering: .relaxed) }, on: queue)
        world.run(.seconds(1))
        #expect(!app.canWait && count.load(ordering: .relaxed) == 0)
        app.happened(.entered)
        world.run(.seconds(1))
        #expect(count.load(ordering: .relaxed) == 1)
        withExtendedLifetime(phone) {}
    }
}
