import BluetoothSimulation
import CoreBluetooth
import Foundation
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import CoreBluetoothExtras

@Suite("Names, cached services and errors")
struct NameTests {
    @Test("behaviour 15.7: both names of a device are available, each with its age")
    func names() throws {
        let world = AsyncWorld()
        try world.run(for: .seconds(300)) { central in
            let peripheral = try await AsyncWorld.find(central)
            #expect(peripheral.names.advertised?.text == "Signpost")
            #expect(peripheral.names.device == nil)
            let listening = world.task {
                for try await name in peripheral.nameChanges { return name }
                return nil
            }
            try await central.openConnection(to: peripheral)
            #expect(try await listening.value == "Station")
            // The station keeps advertising while connected, and scanners receive it.
            let scanning = world.task { for try await _ in central.scan() {} }
            try await world.sleep(.seconds(50))
            let (advertised, device) = (peripheral.names.advertised?.age, peripheral.names.device?.age)
            #expect(try #require(advertised) < .seconds(2) && #require(device) > .seconds(49))
            scanning.cancel()
            try await scanning.value
            world.leave()
            try await world.sleep(.seconds(100))
            let names = peripheral.names
            #expect(names.advertised?.text == "Signpost")
            #expect(names.device?.text == "Station")
            let ages = [names.advertised?.age, names.device?.age].compactMap { $0 }
            #expect(ages.count == 2 && (.seconds(100)..<(.seconds(103))).contains(ages[0]))
            #expect(ages.count == 2 && (.seconds(150)..<(.seconds(160))).contains(ages[1]))
            let unknown = PeripheralNames(world.phone.withSystem { $0.peers.names(of: UUID()) })
            #expect(unknown == PeripheralNames(KnownNames()))
        }
    }

    @Test("behaviour 15.6: cached services are dropped on request, and discovered again, for all apps on the link")
    func refreshing() throws {
        let world = AsyncWorld()
        try world.connected { central, peripheral, characteristic in
            let other = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "other"))
            let same = try await AsyncWorld.find(other)
            try await other.openConnection(to: same)
            let theirs = try await AsyncWorld.explore(same)
            let told = world.task {
                for try await services in same.serviceChanges { return services.map(\.uuid) }
                return []
            }
            try await world.sleep(.milliseconds(1))
            let before = world.phone.traffic.packetsToController
            _ = try await peripheral.discover(services: nil)
            #expect(world.phone.traffic.packetsToController == before)
            let services = try await peripheral.refreshServices()
            #expect(world.phone.traffic.packetsToController > before)
            #expect(services.map(\.uuid) == [Station.service])
            #expect(services.first !== characteristic.service)
            #expect(try await told.value == [Station.service])
            for (peripheral, old) in [(peripheral, characteristic), (same, theirs)] {
                let stale = await #expect(throws: CBError.self) { try await peripheral.read(old) }
                #expect(stale?.code == .invalidHandle)
                let new = try await AsyncWorld.explore(peripheral)
                #expect(try await peripheral.read(new).number("R") != nil)
            }
        }
    }

    @Test("behaviour 15.10: an error contains the layer and code of its cause")
    func reasons() throws {
        let world = AsyncWorld()
        try world.connected { central, peripheral, _ in
            let refused = try await AsyncWorld.explore(peripheral, Station.refused)
            let error = await #expect(throws: CBATTError.self) { try await peripheral.read(refused) }
            let reason = try #require(error.flatMap { ErrorReason($0) })
            #expect(reason.layer == .att)
            #expect(Int(reason.code) == Station.refusal)
            #expect(try #require(reason.text).hasPrefix("the peer returned "))
            let info = try #require(error as NSError?).userInfo
            #expect(info[CBErrorReasonLayerKey] as? String == "ATT")
            #expect((info[CBErrorReasonCodeKey] as? NSNumber)?.intValue == Station.refusal)
            let ends = central.disconnections(of: peripheral)
            world.leave()
            for try await end in ends {
                guard case .lost(let error) = end.cause else { break }
                #expect(ErrorReason(error)?.layer == .hci)
                #expect(ErrorReason(error)?.code == 0x08)
                break
            }
            #expect(ErrorReason(ExtrasError.overflow) == nil)
        }
    }

    @Test("behaviour 15.9: a pairing that the other side declines is reported with the Security Manager's code")
    func pairings() throws {
        let world = AsyncWorld()
        world.phone.person.behaves(.agrees(lookingAt: [world.device]), after: .seconds(1))
        world.device.person.behaves(.declines, after: .seconds(1))
        try world.connected { _, peripheral, _ in
            let secret = try await AsyncWorld.explore(peripheral, Station.secret)
            let declined = await #expect(throws: CBATTError.self) { try await peripheral.read(secret) }
            #expect(declined?.code == .insufficientAuthentication)
            let reason = try #require(declined.flatMap { ErrorReason($0) })
            #expect(reason.layer == .smp && (1...0x0F).contains(reason.code) && reason.text != nil, "\(reason)")
        }
    }

    @Test("behaviour 15.28: external UUIDs and the client configuration are rejected with an error")
    func validating() throws {
        #expect(try CBUUID(validating: "180D") == CBUUID(string: "180D"))
        #expect(try CBUUID(validating: Data([0x18, 0x0D])) == CBUUID(string: "180D"))
        for text in ["", "180", "XYZW", "0000180D-0000-1000-8000-00805F9B34F", "heart rate"] {
            #expect(throws: InvalidUUID(text: text)) { try CBUUID(validating: text) }
        }
        #expect(try CBUUID(validating: Data([0x12, 0x34, 0x56, 0x78])) == CBUUID(string: "12345678"))
        #expect(try CBUUID(validating: Data(0..<16)) == CBUUID(data: Data(0..<16)))
        for (octets, text) in [([], ""), ([1, 2, 3], "010203"), ([0xAB, 0xC0, 0x0D], "abc00d")] as [([UInt8], String)] {
            #expect(throws: InvalidUUID(text: text)) { try CBUUID(validating: Data(octets)) }
        }
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            let descriptors = try await peripheral.discover(descriptorsFor: characteristic)
            let configuration = try #require(descriptors.first { $0.uuid == CBUUID(string: "2902") })
            let error = await #expect(throws: CBError.self) {
                try await peripheral.write(Data([1, 0]), for: configuration)
            }
            #expect(error?.code == .invalidParameters)
        }
    }

    @Test("behaviour 15.24: a connection beyond the controller's capacity fails at once with error 11")
    func connectionLimit() throws {
        let world = AsyncWorld()
        let stations = (0..<20).map { number in
            world.world.addDevice(named: "Station \(number)").launch("station") { Station($0) }
        }
        try world.run(for: .seconds(600)) { central in
            try await central.poweredOn()
            var found: [UUID: CBPeripheral] = [:]
            for try await discovery in central.scan(services: [Station.service]) {
                found[discovery.peripheral.identifier] = discovery.peripheral
                if found.count == 21 { break }
            }
            var peripherals = Array(found.values)
            let last = peripherals.removeLast()
            // With so many devices on the air, a new link may be lost.
            for _ in 0..<20 {
                for peripheral in peripherals where peripheral.state == .disconnected {
                    try await central.openConnection(to: peripheral, deadline: .seconds(20))
                }
                try await world.sleep(.seconds(2))
            }
            #expect(peripherals.count { $0.state == .connected } == 20)
            let begin = world.world.now
            let error = await #expect(throws: CBError.self) { try await central.openConnection(to: last) }
            #expect(error?.code == .connectionLimitReached)
            #expect(world.world.now - begin < .seconds(1))
            let reason = error.flatMap { ErrorReason($0) }
            #expect(reason?.layer == .hci)
            #expect(reason?.code == 0x09)
            #expect(reason?.text != nil)
            // Releasing a peripheral ends its connection (behaviour 3.5).
            withExtendedLifetime(peripherals) {}
        }
        withExtendedLifetime(stations) {}
    }
}
