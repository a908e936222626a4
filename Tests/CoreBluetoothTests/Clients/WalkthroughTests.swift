import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

/// The walkthroughs run to completion, so every delegate method in them has the name that the API calls.
@Suite struct WalkthroughTests {
    @Test func central() {
        let service = StandInService.logged()
        let queue = DispatchQueue(label: "app")
        let app = service.run { CentralWalkthrough(queue: queue) }
        let peer = PeerInfo(identifier: UUID(), name: "Heart")
        let id = peer.identifier
        service.deliver(.stateChanged(.poweredOn))
        var advertisement = Advertisement()
        advertisement.isConnectable = true
        service.deliver(.discovered(peer, advertisement, rssi: -40))
        service.deliver(.connected(peer, maximumWriteWithoutResponse: 20))
        service.deliver(.servicesDiscovered(peer: id, .success([.heartRate])))
        let measurement = RemoteCharacteristic(handle: 3, uuid: 0x2A37, properties: 0x1A)
        service.deliver(.characteristicsDiscovered(peer: id, service: 1, .success([measurement])))
        service.deliver(.valueRead(peer: id, characteristic: 3, .success([77])))
        service.deliver(
            .valueRead(peer: id, characteristic: 3, .failure(ServiceError(att: ATTStatus(rawValue: 15))))
        )
        service.deliver(.notifyStateChanged(peer: id, characteristic: 3, isNotifying: true, nil))
        service.deliver(.valueWritten(peer: id, characteristic: 3, nil))
        service.deliver(.notifyStateChanged(peer: id, characteristic: 3, isNotifying: false, nil))
        service.deliver(.disconnected(peer: id, nil, isReconnecting: false))
        #expect(
            app.log == [
                "Discovered Heart -40", "Peripheral connected", "Discovered service Heart Rate",
                "Discovered characteristic 2A37", "Value 77", "needs pairing", "Disconnected",
            ]
        )
        #expect(
            service.takeRequests() == [
                .startScan(ScanRequest(services: [0x180D])), .stopScan, .connect(peer: id, options: ConnectOptions()),
                .discoverServices(
                    peer: id,
                    uuids: [0x180D, BluetoothUUID(high: 0x71DA_3FD1_7E10_41C1, low: 0xB16F_4430_B506_CDE7)]
                ),
                .discoverCharacteristics(peer: id, service: 1, uuids: nil),
                .readCharacteristic(peer: id, characteristic: 3),
                .setNotify(peer: id, characteristic: 3, enabled: true),
                .writeCharacteristic(peer: id, characteristic: 3, value: [1]),
                .setNotify(peer: id, characteristic: 3, enabled: false), .cancelConnection(peer: id),
            ]
        )
        queue.sync { app.reconnect(savedIdentifiers: [id]) }
        #expect(service.takeRequests() == [.startScan(ScanRequest(services: [0x180D]))])
        service.answer(peripherals: [peer])
        queue.sync { app.reconnect(savedIdentifiers: [id]) }
        #expect(app.discoveredPeripheral?.state == .connecting)
    }

    @Test func peripheral() throws {
        let service = StandInService.logged()
        let app = service.run { PeripheralWalkthrough(queue: DispatchQueue(label: "app")) }
        let central = CentralInfo(identifier: UUID(), maximumUpdateLength: 20)
        service.deliver(.stateChanged(.poweredOn))
        let added = service.takeRequests().compactMap { request in
            if case .peripheral(.addService(let service)) = request { service } else { nil }
        }
        let published = try #require(added.first)
        let characteristic = published.characteristics[0].id
        service.deliver(.serviceAdded(published.id, nil))
        service.deliver(.advertisingStarted(nil))
        _ = service.takeRequests()
        service.deliver(.readRequested(transaction: 1, central, characteristic: characteristic, offset: 3))
        service.deliver(.readRequested(transaction: 2, central, characteristic: characteristic, offset: 9))
        let write = WriteRequest(characteristic: characteristic, offset: 0, value: [1, 2])
        service.deliver(.writeRequested(transaction: 3, central, [write], needsResponse: true))
        service.deliver(.subscribed(central, characteristic: characteristic))
        service.deliver(.unsubscribed(central, characteristic: characteristic))
        #expect(
            service.takeRequests() == [
                .respond(transaction: 1, status: .success, value: [0x6C, 0x6F]),
                .respond(transaction: 2, status: ATTStatus(rawValue: 7), value: nil),
                .respond(transaction: 3, status: .success, value: nil),
                .stopAdvertising,
                .updateValue(characteristic: characteristic, value: [0x6E, 0x65, 0x77], centrals: nil),
            ]
        )
        #expect(
            app.log == [
                "Advertising", "Central subscribed to characteristic \(app.myCharacteristicUUID)", "sent: true", "gone",
            ]
        )
        #expect(app.myCharacteristic.value == Data([1, 2]))
    }
}
