import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import Foundation
import ServiceMessages
import Testing

@testable import CoreBluetoothExtras

@Suite("Connections as async calls")
struct ConnectTests {
    @Test("behaviour 15.2: an attempt ends at its deadline with a specific error, and is cancelled")
    func deadline() throws {
        let world = AsyncWorld()
        try world.run { central in
            let peripheral = try await AsyncWorld.find(central)
            world.leave()
            let begin = world.world.now
            await #expect(throws: ExtrasError.deadlinePassed) {
                try await central.openConnection(to: peripheral, deadline: .seconds(7))
            }
            #expect(world.world.now - begin == .seconds(7))
            try await world.sleep(.seconds(1))
            #expect(peripheral.state == .disconnected)
            world.comeBack()
            try await world.sleep(.seconds(10))
            #expect(peripheral.state == .disconnected)
            try await central.openConnection(to: peripheral, deadline: .seconds(7))
            #expect(peripheral.state == .connected)
        }
    }

    @Test("behaviour 15.2: cancelling a task cancels its attempt, unless others wait for it")
    func cancelling() throws {
        let world = AsyncWorld()
        try world.run { central in
            let peripheral = try await AsyncWorld.find(central)
            world.leave()
            let tasks = (0..<2).map { _ in world.task { try await central.openConnection(to: peripheral) } }
            try await world.sleep(.seconds(1))
            tasks[0].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[0].value }
            try await world.sleep(.seconds(1))
            #expect(peripheral.state == .connecting)
            tasks[1].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[1].value }
            try await world.sleep(.seconds(1))
            #expect(peripheral.state == .disconnected)
            // A connection that the app requested with the callback API stays.
            let begin: @Sendable () -> Void = { central.connect(peripheral) }
            begin()
            let joined = world.task { try await central.openConnection(to: peripheral) }
            try await world.sleep(.seconds(1))
            joined.cancel()
            _ = await joined.result
            try await world.sleep(.seconds(1))
            #expect(peripheral.state == .connecting)
        }
    }

    @Test("behaviour 15.2: connecting again while the previous connection is ending waits for the new one")
    func connectingAnew() throws {
        let world = AsyncWorld()
        try world.connected { central, peripheral, _ in
            central.cancelPeripheralConnection(peripheral)
            #expect(peripheral.state == .disconnecting)
            try await central.openConnection(to: peripheral)
            #expect(peripheral.state == .connected)
            let characteristic = try await AsyncWorld.explore(peripheral)
            #expect(try await peripheral.read(characteristic).number("R") == 1)
        }
    }

    @Test("behaviour 15.13: the stream of disconnections includes those caused by turning Bluetooth off")
    func disconnections() throws {
        let world = AsyncWorld()
        let causes = try world.connected { central, peripheral, _ in
            let listening = world.task {
                var causes: [String] = []
                for try await end in central.disconnections(of: peripheral) {
                    switch end.cause {
                    case .asked: causes.append("asked")
                    case .lost(let error): causes.append("\((error as? CBError)?.code.rawValue ?? -1)")
                    case .state(let state): causes.append("state \(state.rawValue)")
                    }
                    if causes.count == 3 { break }
                }
                return causes
            }
            try await world.sleep(.milliseconds(1))
            await central.disconnect(peripheral)
            try await central.openConnection(to: peripheral)
            try await world.sleep(.seconds(1))
            world.leave()
            try await world.sleep(.seconds(10))
            world.comeBack()
            try await central.openConnection(to: peripheral)
            world.phone.setPower(false)
            return try await listening.value
        }
        #expect(causes == ["asked", "6", "state 4"])
    }

    @Test("behaviour 15.22: the states of a manager are a sequence that starts with the current one")
    func states() throws {
        let world = AsyncWorld()
        let states = try world.run { central in
            let listening = world.task {
                var states: [Int] = []
                for try await state in central.states {
                    states.append(state.rawValue)
                    if states.count == 3 { break }
                }
                return states
            }
            try await central.poweredOn()
            try await world.sleep(.milliseconds(1))
            world.phone.setPower(false)
            try await world.sleep(.milliseconds(1))
            await #expect(throws: ExtrasError.deadlinePassed) { try await central.poweredOn(deadline: .seconds(3)) }
            world.phone.setPower(true)
            try await central.poweredOn()
            return try await listening.value
        }
        #expect(states == [5, 4, 5])
        world.phone.setPermission(.denied, forApp: "app")
        #expect(throws: ExtrasError.notPoweredOn(.unauthorized)) { try world.run { try await $0.poweredOn() } }
    }

    @Test("behaviour 15.22: connections of another app are a sequence")
    func connectionEvents() throws {
        let world = AsyncWorld()
        let changes = try world.run { central in
            let peripheral = try await AsyncWorld.find(central)
            let first = world.task { for try await _ in central.connectionEvents() {} }
            try await world.sleep(.milliseconds(1))
            let listening = world.task {
                var changes: [Bool] = []
                for try await change in central.connectionEvents([.peripheralUUIDs: [peripheral.identifier]]) {
                    changes.append(change.isConnected)
                    if changes.count == 2 { break }
                }
                return changes
            }
            try await world.sleep(.milliseconds(1))
            await #expect(throws: ExtrasError.replaced) { try await first.value }
            let other = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "other"))
            let same = try await AsyncWorld.find(other)
            try await other.openConnection(to: same)
            await other.disconnect(same)
            return try await listening.value
        }
        #expect(changes == [true, false])
    }
}
