import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct PowerTests {
    @Test("behaviour 1.1: a manager's state is its first event, whenever it was created")
    func theStateComesFirstAndLater() throws {
        let world = ServiceWorld()
        let device = world.device("Phone", isUp: false)
        let central = device.manager(.central)
        world.run(.seconds(1))
        #expect(central.take() == [.stateChanged(.poweredOn)])
        #expect(device.manager(.peripheral).take() == [.stateChanged(.poweredOn)])
    }

    @Test("behaviour 1.6: requests without power are ignored")
    func requestsWithoutPowerAreIgnored() throws {
        let pair = try ConnectedPair()
        pair.phone.system.controllers.setPower(false)
        pair.world.run(.seconds(1))
        #expect(pair.central.take() == [.stateChanged(.poweredOff)])
        pair.central.send(.startScan(ScanRequest()))
        pair.central.send(.stopScan)
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        let peripheral = pair.phone.manager(.peripheral)
        peripheral.send(.startAdvertising(AdvertisingRequest(localName: "x")))
        peripheral.send(.addService(Example.heartRate))
        pair.world.run(.seconds(10))
        #expect(pair.central.take().isEmpty)
        #expect(peripheral.take() == [.stateChanged(.poweredOff)])
        // Behaviour 1.8.
        #expect(pair.central.ask(.peripherals(identifiers: [pair.peer])).isEmpty)
    }

    @Test("behaviour 1.7: requests to a peripheral that is not connected are ignored")
    func requestsToAPeripheralThatIsNotConnectedAreIgnored() throws {
        let pair = try ConnectedPair()
        pair.central.send(.discoverServices(peer: pair.peer, uuids: nil))
        pair.central.send(.readRSSI(peer: pair.peer))
        pair.world.run(.seconds(10))
        #expect(pair.central.take().isEmpty)
    }

    /// Counts the misuse that a device reports from now on.
    private static func misuse(on device: TestDevice) -> () -> Int {
        var count = 0
        device.system.observers.add(.misuse) { _ in count += 1 }
        return { count }
    }

    @Test("behaviours 1.7, 3.6: a request that crosses a disconnection is no misuse, one without a connection is")
    func aRequestThatCrossesADisconnectionIsNoMisuse() throws {
        let pair = try ConnectedPair()
        let misuse = Self.misuse(on: pair.phone)
        func sendRequests() {
            pair.central.send(.discoverServices(peer: pair.peer, uuids: nil))
            pair.central.send(.cancelConnection(peer: pair.peer))
            pair.world.run(.seconds(1))
        }
        sendRequests()
        #expect(misuse() == 2)
        _ = try pair.connected()
        pair.strap.controller.loseLinks(.connectionTimeout)
        pair.world.run(.seconds(10))
        #expect(pair.phone.system.links.all.isEmpty)
        sendRequests()
        #expect(misuse() == 2)
    }

    @Test("behaviours 1.7, 1.11: a request that crosses a loss of power, and the return of power, is no misuse")
    func aRequestThatCrossesALossOfPowerIsNoMisuse() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let misuse = Self.misuse(on: pair.phone)
        pair.phone.system.controllers.setPower(false)
        pair.phone.system.controllers.setPower(true)
        pair.world.run(.seconds(1))
        #expect(pair.phone.system.links.all.isEmpty)
        pair.central.send(.discoverServices(peer: pair.peer, uuids: nil))
        pair.world.run(.seconds(1))
        #expect(misuse() == 0)
    }

    @Test("behaviours 1.6, 10.7: a request that crosses the loss of the radio is no misuse, one before any power is")
    func aRequestThatCrossesTheLossOfTheRadioIsNoMisuse() throws {
        let pair = try ConnectedPair()
        let sensor = pair.strap.manager(.peripheral)
        let (onPhone, onStrap) = (Self.misuse(on: pair.phone), Self.misuse(on: pair.strap))
        pair.phone.controller.transport.close()
        pair.strap.controller.transport.close()
        pair.world.run(.seconds(1))
        // Those of processes that know of no power are misuse.
        let (late, lateSensor) = (pair.phone.manager(.central), pair.strap.manager(.peripheral))
        late.send(.startScan(ScanRequest()))
        lateSensor.send(.startAdvertising(AdvertisingRequest(localName: "x")))
        pair.world.run(.seconds(1))
        #expect((onPhone(), onStrap()) == (1, 1))
        pair.central.send(.startScan(ScanRequest()))
        sensor.send(.startAdvertising(AdvertisingRequest(localName: "x")))
        pair.world.run(.seconds(1))
        #expect((onPhone(), onStrap()) == (1, 1))
    }

    @Test(
        "behaviours 1.11, 1.12: turning Bluetooth off ends everything without disconnection events, and turning it on restores nothing"
    )
    func powerOffEndsAllWithoutDisconnections() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        pair.central.send(.startScan(ScanRequest()))
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: try #require(handles[Example.note])))
        pair.world.run(.milliseconds(100))
        pair.central.take()
        pair.phone.system.controllers.setPower(false)
        pair.world.run(.seconds(40))
        #expect(pair.central.take() == [.stateChanged(.poweredOff)])
        #expect(pair.phone.system.links.all.isEmpty)
        #expect(!pair.phone.controller.isScanning)
        pair.phone.system.controllers.setPower(true)
        pair.world.run(.seconds(10))
        // The scan, the connection and the pending connection are all gone.
        #expect(pair.central.take() == [.stateChanged(.poweredOn)])
        try pair.central.connect(pair.peer)
        pair.strap.controller.loseLinks(.connectionTimeout)
        pair.strap.controller.isInRange = false
        pair.central.send(.connect(peer: pair.peer, options: ConnectOptions()))
        pair.world.run(.seconds(1))
        pair.phone.system.controllers.setPower(false)
        pair.phone.system.controllers.setPower(true)
        pair.strap.controller.isInRange = true
        pair.world.run(.seconds(10))
        pair.central.take()
        #expect(pair.phone.system.links.all.isEmpty)
    }

    @Test("behaviour 1.14: services and advertising survive turning Bluetooth off")
    func servicesAndAdvertisingSurvivePowerOff() throws {
        let pair = try ConnectedPair().linked()
        pair.strap.system.controllers.setPower(false)
        _ = try pair.central.expect("disconnected", \.disconnection)
        #expect(!pair.strap.controller.isAdvertising)
        pair.strap.system.controllers.setPower(true)
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take() == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
        #expect(pair.strap.controller.isAdvertising)
        _ = try pair.connected()
    }

    @Test("behaviour 7.40: turning Bluetooth off ends remote subscriptions")
    func powerOffUnsubscribes() throws {
        let pair = try ConnectedPair()
        let handles = try pair.connected()
        let measurement = try #require(handles[Example.measurement])
        pair.central.send(.setNotify(peer: pair.peer, characteristic: measurement, enabled: true))
        _ = try pair.sensor.expect("subscribed", \.subscriber)
        pair.strap.system.controllers.setPower(false)
        pair.world.run(.seconds(1))
        #expect(pair.sensor.take().first?.subscriber?.isSubscribed == false)
    }

    @Test("behaviour 1.13: a failing controller is reset, and services and advertising are lost")
    func aControllerThatFailsIsResetAndServicesAreGone() throws {
        let pair = try ConnectedPair().linked()
        pair.central.take()
        pair.strap.controller.transport.send(HCIPacket(HardwareError(code: 1)))
        pair.phone.controller.transport.send(HCIPacket(HardwareError(code: 1)))
        pair.world.run(.seconds(1))
        #expect(pair.central.take() == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
        #expect(pair.sensor.take().compactMap(\.state) == [.resetting, .poweredOn])
        #expect(!pair.strap.controller.isAdvertising)
        try pair.sensor.publish()
    }

    @Test func aControllerThatIsGoneLeavesBluetoothUnsupported() throws {
        let pair = try ConnectedPair().linked()
        pair.central.take()
        pair.phone.controller.transport.close()
        pair.world.run(.seconds(1))
        // Behaviour 1.4: the controller might have returned at once.
        #expect(pair.central.take() == [.stateChanged(.resetting), .stateChanged(.unsupported)])
        #expect(pair.phone.manager(.central).take() == [.stateChanged(.unsupported)])
    }

    @Test func aControllerThatCannotBeUsedLeavesBluetoothUnsupported() throws {
        let world = ServiceWorld()
        let device = world.device("Phone", isUp: false)
        device.controller.refuses[LESetEventMask.opcode] = .unknownCommand
        let central = device.manager(.central)
        world.run(.seconds(60))
        #expect(central.take() == [.stateChanged(.unsupported)])
    }

    @Test("AB-G05: the managers of an app are bounded")
    func managersOfAnAppAreBounded() throws {
        let world = ServiceWorld()
        let device = world.device("Phone")
        let app = device.system.openApp(AppIdentity(name: "greedy"))
        let managers = (0..<ServiceLimits.managers).map { _ in device.manager(.central, of: app) }
        #expect(managers.allSatisfy { $0.take() == [.stateChanged(.poweredOn)] })
        #expect(device.manager(.central, of: app).take() == [.stateChanged(.unsupported)])
        managers.first?.close()
        #expect(device.manager(.central, of: app).take() == [.stateChanged(.poweredOn)])
    }
}

@Suite struct DeterminismTests {
    /// All events of two apps in a session, and all commands to the controllers.
    private func session(seed: UInt64) throws -> [String] {
        let world = ServiceWorld(seed: seed)
        let phone = world.device("Phone")
        let strap = world.device("Strap")
        let central = phone.manager(.central)
        let sensor = strap.manager(.peripheral)
        try sensor.publish()
        central.send(.startScan(ScanRequest()))
        world.run(.seconds(1))
        let peer = try #require(central.events.compactMap(\.discovery).first?.peer.identifier)
        central.send(.connect(peer: peer, options: ConnectOptions()))
        central.send(.stopScan)
        world.run(.seconds(1))
        central.send(.discoverServices(peer: peer, uuids: nil))
        world.run(.seconds(1))
        return central.take().map { "\($0)" } + sensor.take().map { "\($0)" } + phone.controller.commands
            + strap.controller.commands
    }

    @Test func theSameSeedGivesTheSameSession() throws {
        let first = try session(seed: 7)
        #expect(try session(seed: 7) == first)
        #expect(try session(seed: 8) != first)
    }
}
