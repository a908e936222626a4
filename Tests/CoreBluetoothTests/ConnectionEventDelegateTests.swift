import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

/// Features for apps on phones: connection events of other apps, ANCS authorization, BR/EDR and ranging.
@Suite struct ConnectionEventDelegateTests {
    private final class Listener: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
        var events: [(CBConnectionEvent, CBPeripheral)] = []
        var authorizations: [Bool] = []
        var soundings: [CBError.Code?] = []
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(
            _ central: CBCentralManager,
            connectionEventDidOccur event: CBConnectionEvent,
            for peripheral: CBPeripheral
        ) {
            events.append((event, peripheral))
        }
        func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
            authorizations.append(peripheral.ancsAuthorized)
        }
        func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
            soundings.append((error as? CBError)?.code)
        }
    }

    @Test("behaviour 3.22: an app registers for connection events of others, and receives them")
    func connectionsOfOthers() {
        let app = CentralApp.poweredOn()
        let listener = Listener()
        app.manager.delegate = listener
        let services = [CBUUID(string: "180D"), CBUUID(string: "180F")]
        app.manager.registerForConnectionEvents(options: [.serviceUUIDs: services, .peripheralUUIDs: [app.peer]])
        let watch = ConnectionWatch(services: [0x180D, 0x180F], peers: [app.peer])
        #expect(app.take().requests == [.watchConnections(watch)])
        let info = PeerInfo(identifier: app.peer, name: "Strap")
        app.service.deliver(.central(.connectionChanged(info, isConnected: true)))
        app.service.deliver(.central(.connectionChanged(info, isConnected: false)))
        #expect(listener.events.map(\.0) == [.peerConnected, .peerDisconnected])
        #expect(listener.events[0].1 === listener.events[1].1 && listener.events[0].1.name == "Strap")
        // The app is not connected itself, but can connect.
        let peripheral = listener.events[0].1
        #expect(peripheral.state == .disconnected)
        app.manager.connect(peripheral)
        #expect(app.take().requests == [.connect(peer: app.peer, options: ConnectOptions())])
        app.manager.registerForConnectionEvents()
        #expect(app.take().requests == [.watchConnections(nil)])
        #expect(CBConnectionEvent.peerDisconnected.rawValue == 0)
        #expect(CBConnectionEvent.peerConnected.rawValue == 1)
    }

    @Test("behaviour 14.23: registrations for connection events accept four services")
    func fourServicesCanBeGiven() {
        let app = CentralApp.poweredOn()
        let services = (0..<5).map { CBUUID(string: "FFF\($0)") }
        app.manager.registerForConnectionEvents(options: [.serviceUUIDs: Array(services.prefix(4))])
        #expect(!CapturedLog.contains("API MISUSE", app.manager.description, "register for connections"))
        app.manager.registerForConnectionEvents(options: [.serviceUUIDs: services])
        let four = ConnectionWatch(services: [0xFFF0, 0xFFF1, 0xFFF2, 0xFFF3])
        #expect(app.take().requests == [.watchConnections(four), .watchConnections(four)])
        #expect(CapturedLog.contains("API MISUSE", app.manager.description, "register for connections"))
    }

    @Test(
        "behaviour 3.19: a peripheral is ANCS-authorized when and as long as the service reports it"
    )
    func notificationsOfTheSystem() {
        let app = CentralApp.discovering()
        app.take()
        let listener = Listener()
        app.manager.delegate = listener
        app.manager.connect(app.peripheral, options: [CBConnectPeripheralOptionRequiresANCS: true])
        var options = ConnectOptions()
        options.requiresNotifications = true
        #expect(app.take().requests == [.connect(peer: app.peer, options: options)])
        #expect(!app.peripheral.ancsAuthorized)
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        app.service.deliver(.central(.peer(app.peer, .notificationsAuthorized(true))))
        #expect(listener.authorizations == [true])
        #expect(app.peripheral.ancsAuthorized)
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(!app.peripheral.ancsAuthorized)
        app.service.deliver(.central(.peer(app.peer, .notificationsAuthorized(true))))
        #expect(listener.authorizations == [true])
    }

    @Test(
        "behaviour 3.20: transport bridging connects over LE, with a log entry"
    )
    func transportBridging() {
        let app = CentralApp.discovering()
        app.take()
        app.manager.connect(app.peripheral, options: [CBConnectPeripheralOptionEnableTransportBridgingKey: 1])
        #expect(app.take().requests == [.connect(peer: app.peer, options: ConnectOptions())])
        #expect(CapturedLog.contains(app.peer.uuidString, "transport bridging is not supported"))
    }

    @Test func distancesAreMeasuredWhereTheServiceCan() {
        let app = CentralApp.connected()
        let listener = Listener()
        app.peripheral.delegate = listener
        let configuration = CBChannelSoundingSessionConfiguration(role: .initiator)
        #expect(configuration.role == .initiator)
        #expect(configuration.role.rawValue == 0)
        app.peripheral.startChannelSoundingSession(configuration)
        app.peripheral.cancelChannelSoundingSession()
        let requests: [LinkRequest] = [.startChannelSounding, .cancelChannelSounding]
        #expect(app.take().requests == requests.map { .central(.peer(app.peer, .link($0))) })
        let error = ServiceError(.operationNotSupported)
        app.service.deliver(.central(.peer(app.peer, .channelSoundingEnded(error))))
        #expect(listener.soundings == [.operationNotSupported])
    }

    @Test("behaviour 10.1: a restore identifier reaches the service, and nothing is restored")
    func restoreIdentifiersReachTheService() {
        let service = StandInService.logged()
        let central = service.run {
            CBCentralManager(
                delegate: nil,
                queue: nil,
                options: [CBCentralManagerOptionRestoreIdentifierKey: "central"]
            )
        }
        let peripheral = service.run {
            CBPeripheralManager(
                delegate: nil,
                queue: nil,
                options: [CBPeripheralManagerOptionRestoreIdentifierKey: "peripheral"]
            )
        }
        #expect(service.options.map(\.restoreIdentifier) == ["central", "peripheral"])
        #expect(central.state == .unknown)
        #expect(peripheral.state == .unknown)
    }
}
