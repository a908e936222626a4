import BluetoothSimulation
import CoreBluetooth
import Foundation
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import CoreBluetoothExtras

@Suite("Link information")
struct LinkTests {
    /// The link as the other end describes it.
    private func mirrored(_ link: LinkInformation?) -> LinkInformation? {
        guard var link else { return nil }
        (link.txPHY, link.rxPHY) = (link.rxPHY, link.txPHY)
        (link.maximumTxOctets, link.maximumRxOctets) = (link.maximumRxOctets, link.maximumTxOctets)
        link.rssi = nil
        return link
    }

    @Test("behaviour 15.4: an app reads the parameters that the two controllers negotiated")
    func asking() throws {
        let world = AsyncWorld()
        let information = try world.connected { _, peripheral, _ in
            try await world.sleep(.seconds(1))
            return try await peripheral.linkInformation()
        }
        #expect(mirrored(world.device.link) == mirrored(mirrored(information)))
        let rssi = try #require(information.rssi)
        #expect(rssi < 0)
        #expect(rssi > -100)
        #expect(information.mtu > 23)
        #expect(information.maximumTxOctets > 27)
        #expect(!information.isEncrypted)
    }

    @Test("behaviour 15.4: requests for an interval and a PHY take effect, and the changes arrive as a sequence")
    func wishing() throws {
        let world = AsyncWorld()
        let changes = try world.connected { _, peripheral, _ in
            try await world.sleep(.seconds(1))
            let listening = world.task {
                var changes: [LinkInformation] = []
                for try await change in peripheral.linkChanges {
                    changes.append(change)
                    if change.txPHY == .le2M, change.interval >= .milliseconds(100) { break }
                }
                return changes
            }
            try await world.sleep(.milliseconds(1))
            peripheral.prefer(LinkWish(interval: .milliseconds(100)...(.milliseconds(125)), latency: 1))
            try await world.sleep(.seconds(5))
            peripheral.prefer(LinkWish(phy: .le2M))
            let changes = try await listening.value
            try await world.sleep(.seconds(1))
            return changes
        }
        let last = try #require(changes.last)
        #expect((.milliseconds(100)...(.milliseconds(125))).contains(last.interval))
        #expect(last.latency == 1)
        #expect(changes.count == Set(changes).count && changes.count >= 3, "\(changes)")
        // The other end has the same parameters.
        #expect(mirrored(world.device.link) == last)
    }

    @Test("behaviour 15.4: an invalid request is not sent")
    func illegalWishes() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, _ in
            try await world.sleep(.seconds(1))
            let before = try await peripheral.linkInformation()
            for interval in [Duration.zero...(.milliseconds(1)), .seconds(5)...(.seconds(3_600))] {
                peripheral.prefer(LinkWish(interval: interval, latency: -5, supervisionTimeout: .seconds(-1)))
                peripheral.prefer(LinkWish(interval: interval, latency: 5_000, supervisionTimeout: .seconds(100_000)))
            }
            try await world.sleep(.seconds(10))
            let after = try await peripheral.linkInformation()
            #expect(after.interval == before.interval)
            #expect(after.latency == before.latency)
        }
    }

    @Test("behaviour 15.4: a sequence restarts with the next connection, and continues after others have ended")
    func outlasting() throws {
        let world = AsyncWorld()
        try world.connected { central, peripheral, _ in
            try await world.sleep(.seconds(1))
            let told = Notes<LinkInformation>()
            let listening = world.task { for try await change in peripheral.linkChanges { told.add(change) } }
            let another = world.task { for try await _ in peripheral.linkChanges {} }
            try await world.sleep(.seconds(1))
            another.cancel()
            try await another.value
            peripheral.prefer(LinkWish(interval: .milliseconds(100)...(.milliseconds(125))))
            try await world.sleep(.seconds(5))
            #expect(told.all.count == 2)
            #expect(told.all.last?.interval != told.all.first?.interval)
            await central.disconnect(peripheral)
            try await central.openConnection(to: peripheral)
            try await world.sleep(.seconds(2))
            #expect(told.all.count > 3)
            #expect(told.all.last?.interval == .milliseconds(30))
            await central.disconnect(peripheral)
            // Two links whose information never changes after the start.
            let count = told.all.count
            for _ in 0..<2 {
                try await central.openConnection(to: peripheral)
                try await world.sleep(.milliseconds(1))
                await central.disconnect(peripheral)
            }
            #expect(told.all.count == count + 2)
            #expect(told.all.suffix(2).first == told.all.last)
            listening.cancel()
            try await listening.value
        }
    }

    @Test("behaviour 15.4: a manager without a sequence gets nothing, and neither does one whose sequence has ended")
    func managersWithoutASequenceGetNothing() throws {
        let world = AsyncWorld()
        let told = Notes<UInt32>()
        _ = world.phone.withSystem { system in
            system.observers.add(.messages) {
                guard case .delivered(.central(.peer(_, .linkInformation))) = $0.content else { return }
                told.add($0.subject.manager?.rawValue ?? 0)
            }
        }
        try world.connected { _, peripheral, _ in
            let other = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "other"))
            let same = try await AsyncWorld.find(other)
            try await other.openConnection(to: same)
            let listening = world.task { for try await _ in peripheral.linkChanges {} }
            try await world.sleep(.seconds(1))
            same.prefer(LinkWish(interval: .milliseconds(200)...(.milliseconds(250))))
            try await world.sleep(.seconds(5))
            #expect(Set(told.all) == [1])
            #expect(told.all.count >= 2)
            listening.cancel()
            try await listening.value
            try await world.sleep(.seconds(1))
            let count = told.all.count
            same.prefer(LinkWish(interval: .milliseconds(50)...(.milliseconds(60))))
            try await world.sleep(.seconds(5))
            #expect(told.all.count == count)
            #expect(peripheral.state == .connected)
        }
    }

    @Test("behaviour 15.22: ANCS authorization arrives as a sequence")
    func notificationAuthorization() throws {
        let world = AsyncWorld()
        world.phone.person.behaves(.agrees(lookingAt: [world.device]), after: .seconds(1))
        world.device.person.behaves(.agrees(lookingAt: [world.phone]), after: .seconds(1))
        try world.run { central in
            let peripheral = try await AsyncWorld.find(central)
            let listening = world.task {
                for try await isAuthorized in peripheral.notificationAuthorizations { return isAuthorized }
                throw ExtrasError.overflow
            }
            // The name that the prompt shows is the peer's device name, which is read after connecting.
            try await central.openConnection(to: peripheral)
            try await world.sleep(.seconds(1))
            await central.disconnect(peripheral)
            try await central.openConnection(to: peripheral, options: [CBConnectPeripheralOptionRequiresANCS: true])
            #expect(try await listening.value && peripheral.ancsAuthorized)
            #expect(try await peripheral.linkInformation().isEncrypted)
        }
    }

    @Test("behaviour 15.4: encryption and the bond appear in the sequence, which outlives a disconnection")
    func security() throws {
        let world = AsyncWorld()
        world.phone.person.behaves(.agrees(lookingAt: [world.device]), after: .seconds(1))
        world.device.person.behaves(.agrees(lookingAt: [world.phone]), after: .seconds(1))
        try world.connected { central, peripheral, _ in
            let secret = try await AsyncWorld.explore(peripheral, Station.secret)
            let listening = world.task {
                var changes: [LinkInformation] = []
                for try await change in peripheral.linkChanges {
                    changes.append(change)
                    if changes.contains(where: \.isBonded), !change.isEncrypted { break }
                }
                return changes
            }
            try await world.sleep(.milliseconds(1))
            _ = try await peripheral.read(secret)
            let paired = try await peripheral.linkInformation()
            #expect(paired.isEncrypted)
            #expect(paired.isBonded)
            #expect(paired.isAuthenticated)
            #expect(paired.keySize == 16)
            await central.disconnect(peripheral)
            try await central.openConnection(to: peripheral)
            let again = try await peripheral.linkInformation()
            #expect(again.isEncrypted)
            #expect(again.isBonded)
            listening.cancel()
            let changes = try await listening.value
            #expect(changes.first?.isEncrypted == false)
            #expect(changes.last?.isBonded == true)
        }
    }
}
