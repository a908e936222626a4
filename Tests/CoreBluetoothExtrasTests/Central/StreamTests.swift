import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization
import Testing

@testable import CoreBluetoothExtras

@Suite("Sequences of a central")
struct StreamTests {
    @Test("behaviour 15.22: a scan lasts as long as its sequence, and another one replaces it")
    func scanning() throws {
        let world = AsyncWorld()
        try world.run { central in
            try await central.poweredOn()
            let first = world.task { for try await _ in central.scan(options: ScanOptions(allowsDuplicates: true)) {} }
            try await world.sleep(.seconds(1))
            #expect(central.isScanning)
            let second = world.task {
                for try await found in central.scan(services: [Station.service]) { return found }
                throw ExtrasError.overflow
            }
            await #expect(throws: ExtrasError.replaced) { try await first.value }
            let found = try await second.value
            #expect(found.content.localName == "Signpost")
            #expect(found.content.services == [Station.service])
            #expect(found.content.isConnectable)
            #expect(found.rssi < 0)
            #expect(!central.isScanning)
            let third = world.task { for try await _ in central.scan() {} }
            try await world.sleep(.seconds(1))
            third.cancel()
            try await third.value
            #expect(!central.isScanning)
            let fourth = world.task { for try await _ in central.scan() {} }
            try await world.sleep(.seconds(1))
            central.stopScan()
            try await fourth.value
            let fifth = world.task { for try await _ in central.scan() {} }
            try await world.sleep(.seconds(1))
            world.phone.setPower(false)
            await #expect(throws: ExtrasError.notPoweredOn(.poweredOff)) { try await fifth.value }
        }
    }

    @Test("behaviour 15.22: sequences share a subscription, which ends with the last of them")
    func sharing() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            let listening = [5, 20].map { limit in
                world.task {
                    var seen: [UInt32?] = []
                    for try await value in peripheral.notifications(of: characteristic) {
                        seen.append(value.number("N"))
                        if seen.count == limit { break }
                    }
                    return seen
                }
            }
            #expect(try await listening[0].value == [1, 2, 3, 4, 5])
            try await world.sleep(.milliseconds(100))
            #expect(characteristic.isNotifying)
            #expect(try await listening[1].value == (1...20).map { $0 })
            try await world.sleep(.milliseconds(500))
            #expect(!characteristic.isNotifying)
            #expect(world.station.state.withLock { $0.subscribers } == 0)
        }
    }

    @Test("behaviour 15.22: a subscription made with the delegate API outlives the sequences")
    func delegatesSubscription() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            peripheral.setNotifyValue(true, for: characteristic)
            try await world.sleep(.seconds(1))
            for try await _ in peripheral.notifications(of: characteristic) { break }
            try await world.sleep(.seconds(1))
            #expect(characteristic.isNotifying)
            #expect(world.station.state.withLock { $0.subscribers } == 1)
            // Unsubscribing in the app ends the sequence too.
            let listening = world.task { for try await _ in peripheral.notifications(of: characteristic) {} }
            try await world.sleep(.seconds(1))
            peripheral.setNotifyValue(false, for: characteristic)
            try await listening.value
        }
    }

    @Test("behaviour 15.22: a sequence of notifications ends with its connection, and another may follow at once")
    func endsOfNotifications() throws {
        let world = AsyncWorld()
        try world.connected { central, peripheral, characteristic in
            for _ in 0..<3 {
                for try await value in peripheral.notifications(of: characteristic) {
                    #expect(value.number("N") != nil)
                    break
                }
            }
            let listening = world.task { for try await _ in peripheral.notifications(of: characteristic) {} }
            try await world.sleep(.seconds(1))
            await central.disconnect(peripheral)
            try await listening.value
            try await central.openConnection(to: peripheral)
            let anew = try await AsyncWorld.explore(peripheral)
            let lost = world.task { for try await _ in peripheral.notifications(of: anew) {} }
            try await world.sleep(.seconds(1))
            world.leave()
            let error = await #expect(throws: CBError.self) { try await lost.value }
            #expect(error?.code == .connectionTimeout)
            let refused = try? await AsyncWorld.explore(peripheral, Station.refused)
            #expect(refused == nil)
        }
    }

    @Test("behaviour 15.22: changed services arrive as a sequence")
    func serviceChanges() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            let listening = world.task {
                for try await services in peripheral.serviceChanges { return services.map(\.uuid) }
                return []
            }
            let values = world.task { for try await _ in peripheral.notifications(of: characteristic) {} }
            try await world.sleep(.seconds(1))
            world.station.removeServices()
            #expect(try await listening.value == [Station.service])
            let error = await #expect(throws: CBError.self) { try await values.value }
            #expect(error?.code == .invalidHandle)
        }
    }

    @Test("behaviour 15.25: the maximum write length grows after connecting, which a sequence reports")
    func maximumWriteLength() throws {
        let world = AsyncWorld()
        let (first, second, length) = try world.run { central in
            let peripheral = try await AsyncWorld.find(central)
            let listening = world.task {
                for try await length in peripheral.maximumWriteLengthChanges { return length }
                return 0
            }
            try await central.openConnection(to: peripheral)
            let first = peripheral.maximumWriteValueLength(for: .withoutResponse)
            let second = try await listening.value
            return (first, second, peripheral.maximumWriteValueLength(for: .withoutResponse))
        }
        #expect(first == 20)
        #expect(second > first)
        #expect(length == second)
    }

    @Test("behaviour 15.5: writes without response wait for credits, and all arrive, once and in order")
    func writing() throws {
        let world = AsyncWorld(seed: 3, lossRate: 0.1)
        try world.connected { _, peripheral, characteristic in
            for number in 0..<200 {
                try await peripheral.writeWithoutResponse(Data([UInt8(number)]), for: characteristic)
            }
            let limit = peripheral.maximumWriteValueLength(for: .withoutResponse)
            await #expect(throws: ExtrasError.tooLong(maximum: limit)) {
                try await peripheral.writeWithoutResponse(Data(count: limit + 1), for: characteristic)
            }
            try await world.sleep(.seconds(5))
        }
        #expect(world.station.state.withLock { $0.written } == (0..<200).map { Data([UInt8($0)]) })
    }

    @Test("behaviour 15.5: all tasks that wait for credits proceed, and a cancelled one sends nothing")
    func waitingForRoom() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            let tasks = (0..<100).map { number in
                world.task {
                    try await peripheral.writeWithoutResponse(Data([UInt8(number)]), for: characteristic)
                }
            }
            for number in 60..<80 { tasks[number].cancel() }
            for task in tasks { _ = await task.result }
            try await world.sleep(.seconds(2))
        }
        let expected = (Array(0..<60) + Array(80..<100)).map { Data([UInt8($0)]) }
        #expect(world.station.state.withLock { $0.written } == expected)
    }

    @Test("behaviour 15.23: data crosses both ways over a channel without a run loop, even more than fits at once")
    func channel() throws {
        let world = AsyncWorld()
        let sent = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) })
        let received = try world.connected(for: .seconds(300)) { _, peripheral, _ in
            let psm = try #require(world.station.state.withLock { $0.psm })
            let channel = try await peripheral.openChannel(psm)
            #expect(channel.psm == psm)
            #expect(channel.peer === peripheral)
            try await world.sleep(.seconds(1))
            let other = try #require(world.station.state.withLock { $0.channels.first })
            let echo = world.task {
                for try await octets in other.octets { try await other.write(octets) }
            }
            let sending = world.task { try await channel.write(sent) }
            var received = Data()
            for try await octets in channel.octets {
                received += octets
                if received.count == sent.count { break }
            }
            try await sending.value
            echo.cancel()
            return received
        }
        #expect(received == sent)
    }

    @Test("behaviour 15.23: a lost channel ends its pending calls, and opening an unpublished PSM throws")
    func lostChannel() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, _ in
            let refused = await #expect(throws: CBError.self) { try await peripheral.openChannel(0xF1) }
            #expect(refused != nil)
            let psm = try #require(world.station.state.withLock { $0.psm })
            let channel = try await peripheral.openChannel(psm)
            let writing = world.task { try await channel.write(Data(count: 200_000)) }
            let reading = world.task { for try await _ in channel.octets {} }
            let cancelled = world.task { for try await _ in channel.octets {} }
            try await world.sleep(.milliseconds(100))
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            world.leave()
            await #expect(throws: (any Error).self) { try await writing.value }
            // However a channel ends, its stream of data ends without an error (behaviour 8.8).
            try await reading.value
        }
    }
}
