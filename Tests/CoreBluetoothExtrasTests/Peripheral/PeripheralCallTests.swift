import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import ServiceStandIns
import Synchronization
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite struct PeripheralCallTests {
    @Test(
        "behaviour 15.22: each addition has its own result, even two with one UUID, and the delegate gets all of them"
    )
    func additions() {
        let delegate = Hearer()
        let world = PeripheralWorld(delegate: delegate)
        world.app.task {
            try await world.manager.poweredOn()
            for (name, uuid) in [("one", "1234"), ("system", "1800"), ("two", "1234")] {
                let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
                world.app.task {
                    await world.notes.end(name) { try await world.manager.publish(service) }
                }
            }
        }
        world.run(1)
        #expect(world.notes.all == ["one done", "system failed: CBError 8", "two done"])
        #expect(delegate.calls == ["state", "added", "added!", "added"])
    }

    @Test("publish(_:) and the async add(_:) both wait until the service is published, or throw its error")
    func publishing() {
        let world = PeripheralWorld()
        world.app.task {
            try await world.manager.poweredOn()
            let service = world.service()
            await world.notes.end("publish") { try await world.manager.publish(service) }
            await world.notes.end("again") { try await world.manager.publish(service) }
            await world.notes.end("add") { try await world.manager.publish(world.service()) }
            let system = CBMutableService(type: CBUUID(string: "1800"), primary: true)
            await world.notes.end("system") { try await world.manager.publish(system) }
        }
        world.run(1)
        #expect(
            world.notes.all == [
                "publish done", "again failed: invalid(CoreBluetoothExtras.PublishingFault.publishedAlready)",
                "add done",
                "system failed: CBError 8",
            ]
        )
    }

    @Test("behaviour 15.28: a service that would trap when published is an error, and so is one already published")
    func invalidServices() {
        let world = PeripheralWorld()
        let bad = CBMutableService(type: CBUUID(string: "1234"), primary: true)
        bad.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "1235"),
                properties: [.read, .write],
                value: Data([1]),
                permissions: [.readable, .writeable]
            )
        ]
        let good = world.service()
        world.app.task {
            try await world.manager.poweredOn()
            await world.notes.end("bad") { try await world.manager.publish(bad) }
            await world.notes.end("good") { try await world.manager.publish(good) }
            await world.notes.end("again") { try await world.manager.publish(good) }
        }
        world.run(1)
        #expect(
            world.notes.all == [
                "bad failed: invalid(CoreBluetoothExtras.PublishingFault.cachedValueNotReadOnly)", "good done",
                "again failed: invalid(CoreBluetoothExtras.PublishingFault.publishedAlready)",
            ]
        )
    }

    @Test("behaviours 7.16, 7.17: each start of advertising has its own result, in whatever order they arrive")
    func starts() async {
        let (service, notes) = (StandInService(), Lines())
        let manager = service.manager()
        service.deliver(.stateChanged(.poweredOn))
        // One call of the callback API, and then two async calls.
        manager.startAdvertising(nil)
        for (number, name) in ["first", "second"].enumerated() {
            Task { await notes.end(name) { try await manager.advertise(AdvertisedContent(localName: name)) } }
            #expect(await service.runs { service.requests.count == number + 2 })
        }
        service.deliver(.peripheral(.advertisingStarted(ServiceError(.alreadyAdvertising), number: 2)))
        #expect(await service.runs { notes.all.count == 1 })
        service.deliver(.peripheral(.advertisingStarted(nil)))
        service.deliver(.peripheral(.advertisingStarted(nil, number: 1)))
        #expect(await service.runs { notes.all.count == 2 })
        #expect(notes.all == ["second failed: CBError 9", "first done"])
    }

    @Test("behaviour 1.13: a result from before the loss of power completes no later call")
    func oldAnswers() async {
        let (service, notes) = (StandInService(), Lines())
        let manager = service.manager()
        service.deliver(.stateChanged(.poweredOn))
        Task { await notes.end("old") { _ = try await manager.publishChannel(withEncryption: false) } }
        #expect(await service.runs { service.requests.count == 1 })
        service.deliver(.stateChanged(.poweredOff))
        #expect(await service.runs { notes.all.count == 1 })
        service.deliver(.stateChanged(.poweredOn))
        Task { await notes.end("new") { notes.add("\(try await manager.publishChannel(withEncryption: false))") } }
        #expect(await service.runs { service.requests.count == 2 })
        service.deliver(.peripheral(.channelPublished(psm: 128, nil, number: 1)))
        service.deliver(.peripheral(.channelPublished(psm: 129, nil, number: 2)))
        #expect(await service.runs { notes.all.count == 3 })
        #expect(notes.all == ["old failed: not powered on: 4", "129", "new done"])
        // The channel published for the failed call is unpublished.
        #expect(service.requests.last == .peripheral(.unpublishChannel(psm: 128)))
    }

    @Test("behaviour 15.11: without power each call fails at once, with the state")
    func withoutPower() {
        let world = PeripheralWorld()
        world.run(1)
        world.sensor.setPower(false)
        world.run(1)
        world.app.task {
            let (manager, notes) = (world.manager, world.notes)
            await notes.end("add") { try await manager.publish(world.service()) }
            await notes.end("start") { try await manager.advertise(AdvertisedContent()) }
            await notes.end("publish") { _ = try await manager.publishChannel(withEncryption: false) }
            await notes.end("update") { try await manager.update(Data(), for: world.characteristic) }
        }
        world.run(1)
        let failed = ["add", "start", "publish", "update"].map { "\($0) failed: not powered on: 4" }
        #expect(world.notes.all == failed)
    }

    @Test(
        "behaviour 15.11: every call ends whenever power is lost, and a cancelled call ends at once",
        arguments: 0..<30
    )
    func everyCallEnds(_ moment: Int) {
        let world = PeripheralWorld(seed: UInt64(moment)).published()
        let phone = world.phone()
        phone.device.world.run(for: .seconds(10)) { phone.notes.all.contains("subscribed") }
        let (begun, ended) = (CounterPeripheral(), CounterPeripheral())
        let tasks = Mutex<[Task<Void, any Error>]>([])
        let begin: @Sendable (@escaping @Sendable () async throws -> Void) -> Void = { body in
            begun.add()
            let task = world.app.task {
                defer { ended.add() }
                try await body()
            }
            tasks.withLock { $0.append(task) }
        }
        let manager = world.manager
        for number in 0..<40 {
            begin { try await manager.publish(CBMutableService(type: CBUUID(string: "1234"), primary: true)) }
            begin { _ = try await manager.publishChannel(withEncryption: false) }
            begin { try await manager.advertise(AdvertisedContent(localName: "\(number)")) }
            for _ in 0..<10 {
                begin { try await manager.update(Data("\(number)".utf8), for: world.characteristic) }
            }
        }
        // From before the first callback until everything has ended.
        world.world.run(for: .microseconds(moment * 100))
        switch moment % 3 {
        case 0: world.sensor.setPower(false)
        case 1: world.sensor.setController(isPluggedIn: false)
        default: for task in tasks.withLock({ $0 }) { task.cancel() }
        }
        world.run(moment % 3 == 2 ? 0.001 : 2)
        #expect(begun.value == 520)
        #expect(ended.value == 520)
    }

    @Test("behaviour 8.1: publishing a channel waits for its PSM, and centrals' channels arrive as a stream")
    func channels() {
        let world = PeripheralWorld().published()
        let phone = world.phone(subscribes: false)
        let psm = Mutex<CBL2CAPPSM>(0)
        world.app.task {
            let number = try await world.manager.publishChannel(withEncryption: false)
            psm.withLock { $0 = number }
            for try await channel in world.manager.channels {
                world.notes.add("channel \(channel.psm == number)")
                try await Task.sleep(for: .seconds(5), clock: world.world.clock)
            }
        }
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        phone.openChannel(psm.withLock { $0 })
        world.run(2)
        #expect(world.notes.all.last == "channel true")
        #expect(phone.notes.all.last == "open")
    }

    @Test("a channel whose publication was cancelled does not stay open")
    func cancelledPublication() {
        let world = PeripheralWorld()
        let delegate = Hearer()
        world.publish()
        world.manager.delegate = delegate
        world.app.task {
            let call = world.app.task { try await world.manager.publishChannel(withEncryption: false) }
            call.cancel()
            await world.notes.end("call") { _ = try await call.value }
        }
        world.run(1)
        #expect(world.notes.all.last == "call failed: CancellationError()")
        #expect(delegate.calls == ["published", "unpublished"])
    }
}

/// A delegate that records its callbacks.
final class Hearer: NSObject, CBPeripheralManagerDelegate, Sendable {
    private let notes = Lines()
    /// The response to reads. If nil, reads stay pending.
    let answer: Data?

    init(answer: Data? = nil) {
        self.answer = answer
    }

    var calls: [String] { notes.all }

    private func add(_ text: String, _ error: (any Error)? = nil) { notes.add(error == nil ? text : text + "!") }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { add("state") }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        add("added", error)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        add("started", error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) { add("published", error) }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) { add("unpublished", error) }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        add("read")
        request.value = answer
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { add("ready") }
}
