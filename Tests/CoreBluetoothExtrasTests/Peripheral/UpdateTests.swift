import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import ServiceStandIns
import Synchronization
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite struct UpdateTests {
    /// A sensor with a subscriber.
    private func subscribed(delegate: (any CBPeripheralManagerDelegate)? = nil) -> (PeripheralWorld, Phone) {
        let world = PeripheralWorld(delegate: delegate).published()
        let phone = world.phone()
        world.world.run(for: .seconds(10)) { phone.notes.all == ["subscribed"] }
        return (world, phone)
    }

    @Test("behaviour 15.26: updates wait for credits, none is lost, and all arrive in the order of the calls")
    func order() {
        let (world, phone) = subscribed()
        let ended = CounterPeripheral()
        world.app.task {
            await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        try await world.manager.update(Data("\(number)".utf8), for: world.characteristic)
                        ended.add()
                    }
                    await Task.yield()
                }
            }
        }
        world.run(30)
        #expect(ended.value == 300)
        #expect(phone.notes.all.dropFirst() == (0..<300).map { "value \($0)" }[...])
    }

    @Test("behaviour 7.43: a delegate and calls that wait for credits share them, and neither loses updates")
    func sharing() {
        let sender = Sender()
        let (world, phone) = subscribed(delegate: sender)
        sender.begin(world.manager, world.characteristic)
        let task = world.app.task {
            for number in 0..<100 {
                try await world.manager.update(Data("call \(number)".utf8), for: world.characteristic)
            }
            world.notes.add("through")
        }
        _ = task
        world.run(30)
        let values = phone.notes.all.dropFirst()
        #expect(values.filter { $0.hasPrefix("value call") } == (0..<100).map { "value call \($0)" })
        #expect(world.notes.all.last == "through")
        let own = values.filter { $0.hasPrefix("value own") }
        #expect(own.count > 100 && own == (0..<own.count).map { "value own \($0)" })
    }

    @Test(
        "behaviours 1.13, 15.11: the power ends pending updates and subscriptions, even without further events of the service"
    )
    func power() async throws {
        let (service, notes) = (StandInService(), Lines())
        let manager = service.manager()
        service.deliver(.stateChanged(.poweredOn))
        let (characteristic, id) = try publish(by: manager, service)
        let central = CentralInfo(identifier: UUID(), maximumUpdateLength: 20)
        Task { for try await change in manager.subscriptions { notes.add("subscribed \(change.isSubscribed)") } }
        #expect(await service.runs { !manager.extras.state.withLock { $0.subscriptions.isEmpty } })
        service.deliver(.peripheral(.subscribed(central, id)))
        while manager.updateValue(Data("own".utf8), for: characteristic, onSubscribedCentrals: nil) {}
        Task { await notes.end("update") { try await manager.update(Data("call".utf8), for: characteristic) } }
        #expect(await service.runs { manager.extras.updates.count == 1 && notes.all == ["subscribed true"] })
        service.deliver(.stateChanged(.poweredOff))
        #expect(await service.runs { notes.all.count == 3 })
        let expected: Set = ["subscribed true", "subscribed false", "update failed: not powered on: 4"]
        #expect(Set(notes.all) == expected)
    }

    private func publish(
        by manager: CBPeripheralManager,
        _ service: StandInService
    ) throws -> (CBMutableCharacteristic, LocalAttributeID) {
        let characteristic = CBMutableCharacteristic(CBUUID(string: "1235"), .notify)
        let published = CBMutableService(type: CBUUID(string: "1234"), primary: true)
        published.characteristics = [characteristic]
        manager.add(published)
        guard case .peripheral(.addService(let local)) = service.requests.last else { throw CancellationError() }
        return (characteristic, try #require(local.characteristics.first?.id))
    }

    @Test(
        "behaviour 7.43: a refused delegate gets its callback even while calls use all credits, one by one"
    )
    func turns() async throws {
        let (service, delegate) = (StandInService(), Hearer())
        let manager = service.manager(delegate: delegate)
        service.deliver(.stateChanged(.poweredOn))
        let (characteristic, _) = try publish(by: manager, service)
        while manager.updateValue(Data("own".utf8), for: characteristic, onSubscribedCentrals: nil) {}
        let sent = CounterPeripheral()
        let greedy = Task {
            while true {
                try await manager.update(Data("call".utf8), for: characteristic)
                sent.add()
            }
        }
        for _ in 0..<20 {
            #expect(await service.runs { manager.extras.updates.count == 1 })
            service.deliver(.peripheral(.updateCreditsReturned(1)))
            // The delegate uses the credit that it was notified of.
            if delegate.calls.last == "ready" {
                _ = manager.updateValue(Data("own".utf8), for: characteristic, onSubscribedCentrals: nil)
            }
        }
        greedy.cancel()
        #expect(delegate.calls.count { $0 == "ready" } >= 5)
        #expect(sent.value >= 5)
    }

    @Test("an update cancelled while waiting is not sent, and those after it are")
    func cancelling() {
        let (world, phone) = subscribed()
        let tasks = (0..<60).map { number in
            world.app.task {
                await world.notes.end("\(number)") {
                    try await world.manager.update(Data("\(number)".utf8), for: world.characteristic)
                }
            }
        }
        world.app.task {
            for number in stride(from: 31, to: 60, by: 2) { tasks[number].cancel() }
        }
        world.run(10)
        let cancelled = Set((0..<60).filter { world.notes.all.contains("\($0) failed: CancellationError()") })
        #expect(cancelled.count > 5)
        #expect(phone.notes.all.dropFirst() == (0..<60).filter { !cancelled.contains($0) }.map { "value \($0)" }[...])
    }

    @Test("behaviour 7.44: an update that would be truncated is rejected with the maximum length")
    func tooLong() {
        let (world, phone) = subscribed()
        world.app.task {
            await world.notes.end("long") {
                try await world.manager.update(Data(count: 300), for: world.characteristic)
            }
            let nobody: [CBCentral] = []
            await world.notes.end("nobody") {
                try await world.manager.update(Data(count: 300), for: world.characteristic, onSubscribed: nobody)
            }
        }
        world.run(1)
        #expect(world.notes.all.dropFirst() == ["long failed: tooLong(maximum: 182)", "nobody done"])
        #expect(phone.notes.all == ["subscribed"])
    }

    @Test("behaviour 15.26: the queue reports the number of pending updates, in total and for each central")
    func pending() throws {
        let (world, phone) = subscribed()
        let other = world.phone("Other", x: 2)
        world.world.run(for: .seconds(10)) { other.notes.all == ["subscribed"] }
        let centrals = try #require(world.characteristic.subscribedCentrals)
        try #require(centrals.count == 2)
        // Out of range nothing is acknowledged, and everything sent stays in the queue.
        world.sensor.move(to: Position(x: 100_000))
        world.run(0.05)
        for _ in 0..<10 {
            while world.manager.updateValue(
                Data("value".utf8),
                for: world.characteristic,
                onSubscribedCentrals: [centrals[0]]
            ) {}
            world.run(0.01)
        }
        let mine = world.manager.pendingUpdates(for: centrals[0])
        #expect(mine > 0)
        #expect(mine == world.manager.pendingUpdates)
        #expect(world.manager.pendingUpdates(for: centrals[1]) == 0)
        world.sensor.move(to: Position())
        world.run(10)
        #expect(world.manager.pendingUpdates == 0)
        _ = phone
    }
}

/// An app that sends whenever it has credits.
private final class Sender: NSObject, CBPeripheralManagerDelegate, Sendable {
    private let state = Mutex<(characteristic: CBMutableCharacteristic?, next: Int)>((nil, 0))

    func begin(_ manager: CBPeripheralManager, _ characteristic: CBMutableCharacteristic) {
        state.withLock { $0.characteristic = characteristic }
        send(manager)
    }

    private func send(_ manager: CBPeripheralManager) {
        state.withLock { state in
            guard let characteristic = state.characteristic else { return }
            while state.next < 2_000,
                manager.updateValue(Data("own \(state.next)".utf8), for: characteristic, onSubscribedCentrals: nil)
            {
                state.next += 1
            }
        }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { send(peripheral) }
}
