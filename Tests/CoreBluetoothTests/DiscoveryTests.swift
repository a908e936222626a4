import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

@Suite struct DiscoveryTests {
    @Test("behaviour 0.1: objects are reached through their owners, and refer back to them")
    func objectsKnowWhoHoldsThem() {
        let (app, characteristic) = CentralApp.exploring()
        let service = characteristic.service
        #expect(service === app.peripheral.services?.first)
        #expect(service?.peripheral === app.peripheral)
        app.service.deliver(.includedServicesDiscovered(peer: app.peer, service: 1, .success([.battery])))
        #expect(service?.includedServices?.first?.peripheral === app.peripheral)
        #expect(characteristic.descriptors?.count == 2)
        #expect(characteristic.descriptors?.allSatisfy { $0.characteristic === characteristic } == true)
        let (local, outer) = (PeripheralApp(), CBMutableService(type: CBUUID(string: "180F"), primary: true))
        local.publish()
        outer.includedServices = [local.local]
        #expect(local.dynamic.service === local.local)
        #expect(local.local.peripheral == nil)
        #expect(outer.includedServices?.first === local.local)
        local.service.deliver(.subscribed(local.central, characteristic: local.characteristicID))
        #expect(local.centrals.first?.identifier == local.central.identifier)
    }

    @Test("behaviour 3.40: discovering without a delegate is logged, and a delegate set in didConnect gets the result")
    func theDelegateIsSetInDidConnect() {
        let app = CentralApp.discovering()
        app.manager.connect(app.peripheral)
        app.onCall = { [unowned app] call in
            guard call == "didConnect" else { return }
            app.peripheral.discoverServices(nil)
            app.peripheral.delegate = app
            app.peripheral.discoverServices(nil)
        }
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        #expect(CapturedLog.contains("API MISUSE", app.peer.uuidString, "while delegate is nil"))
        app.take()
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate])))
        #expect(app.take().calls == ["services"])
    }

    @Test("behaviour 4.9: a discovered characteristic has the value that the service has cached")
    func aDiscoveredCharacteristicMayHaveAValue() {
        let app = CentralApp.connected()
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate])))
        let found = RemoteCharacteristic(handle: 3, uuid: 0x2A38, properties: 2, value: [7])
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 1, .success([found])))
        #expect(app.characteristic.value == Data([7]))
        // The value that the app has read since is newer.
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([8])))
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 1, .success([found])))
        #expect(app.characteristic.value == Data([8]))
    }

    @Test("behaviour 1.7: commands without a connection are ignored and logged")
    func commandsWithoutConnectionAreIgnoredAndLogged() {
        let (app, characteristic) = CentralApp.exploring()
        let descriptor = characteristic.descriptors![1]
        let service = characteristic.service!
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        app.take()
        let peripheral = app.peripheral!
        peripheral.discoverServices(nil)
        peripheral.discoverIncludedServices(nil, for: service)
        peripheral.discoverCharacteristics(nil, for: service)
        peripheral.discoverDescriptors(for: characteristic)
        peripheral.readValue(for: characteristic)
        peripheral.readValue(for: descriptor)
        peripheral.writeValue(Data(), for: characteristic, type: .withResponse)
        peripheral.writeValue(Data(), for: characteristic, type: .withoutResponse)
        peripheral.writeValue(Data(), for: descriptor)
        peripheral.setNotifyValue(true, for: characteristic)
        peripheral.readRSSI()
        #expect(app.take() == ([], []))
        #expect(CapturedLog.contains("API MISUSE", app.peer.uuidString, "connected state", "disconnected"))
    }

    @Test("behaviour 1.26: discovering without a delegate is logged")
    func discoveringWithoutADelegateIsLogged() {
        let app = CentralApp()
        app.connect().delegate = nil
        app.peripheral.discoverServices(nil)
        #expect(app.take().requests == [.discoverServices(peer: app.peer, uuids: nil)])
        #expect(CapturedLog.contains("API MISUSE", "delegate is nil", app.peer.uuidString))
    }

    @Test("behaviour 4.1: a discovery with no list or an empty one means all")
    func noListAndAnEmptyOneMeanAll() {
        let app = CentralApp()
        let service = app.explore().service!
        let peripheral = app.peripheral!
        peripheral.discoverServices([])
        peripheral.discoverServices([CBUUID(string: "180D")])
        peripheral.discoverIncludedServices([], for: service)
        peripheral.discoverCharacteristics([], for: service)
        peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
        #expect(
            app.take().requests == [
                .discoverServices(peer: app.peer, uuids: nil),
                .discoverServices(peer: app.peer, uuids: [0x180D]),
                .discoverIncludedServices(peer: app.peer, service: 1, uuids: nil),
                .discoverCharacteristics(peer: app.peer, service: 1, uuids: nil),
                .discoverCharacteristics(peer: app.peer, service: 1, uuids: [0x2A37]),
            ]
        )
    }

    @Test("behaviour 4.2: a discovery adds objects and keeps known ones")
    func discoveryAddsAndKeepsObjects() {
        let (app, characteristic) = CentralApp.exploring()
        let service = app.peripheral.services![0]
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.battery, .heartRate])))
        #expect(app.peripheral.services?.map(\.uuid.uuidString) == ["180D", "180F"])
        #expect(app.peripheral.services?[0] === service)
        let more = [
            RemoteCharacteristic(handle: 3, uuid: 0x2A37, properties: 0x10),
            RemoteCharacteristic(handle: 7, uuid: 0x2A38, properties: 0x02),
        ]
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 1, .success(more)))
        #expect(service.characteristics?.count == 2)
        #expect(service.characteristics?[0] === characteristic)
        #expect(service.characteristics?[1].properties == .read)
        let descriptor = characteristic.descriptors?[0]
        app.service.deliver(
            .descriptorsDiscovered(
                peer: app.peer,
                characteristic: 3,
                .success([RemoteDescriptor(handle: 4, uuid: 0x2902)])
            )
        )
        #expect(characteristic.descriptors?.count == 2)
        #expect(characteristic.descriptors?[0] === descriptor)
    }

    @Test("behaviour 4.2: included services are discovered as objects")
    func includedServices() throws {
        let app = CentralApp.connected()
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate, .battery])))
        let services = try #require(app.peripheral.services)
        #expect(services[0].includedServices == nil)
        // A reference cycle, which must not keep anything alive.
        app.service.deliver(.includedServicesDiscovered(peer: app.peer, service: 1, .success([.battery, .secondary])))
        app.service.deliver(.includedServicesDiscovered(peer: app.peer, service: 10, .success([.heartRate])))
        #expect(services[0].includedServices?.first === services[1])
        #expect(services[0].includedServices?.last?.isPrimary == false)
        #expect(services[1].includedServices?.first === services[0])
        #expect(app.peripheral.services?.count == 2)
        #expect(app.take().calls == ["services", "included", "included"])
        weak let first = services[0].includedServices?.last
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(first == nil)
    }

    @Test("behaviour 4.3: attributes are nil before the first success")
    func nilBeforeTheFirstSuccess() {
        let app = CentralApp.connected()
        #expect(app.peripheral.services == nil)
        app.service.deliver(.servicesDiscovered(peer: app.peer, .failure(ServiceError(.unknown))))
        #expect(app.take().calls == ["services!"])
        #expect(app.peripheral.services == nil)
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate])))
        let service = app.peripheral.services?.first
        #expect(service?.characteristics == nil)
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 1, .failure(ServiceError(.unknown))))
        #expect(service?.characteristics == nil)
        #expect(app.take().calls == ["services", "characteristics!"])
    }

    @Test("behaviour 4.4: nothing found is an empty list")
    func emptyDiscoveriesGiveEmptyLists() {
        let app = CentralApp.connected()
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([])))
        #expect(app.peripheral.services == [])
    }

    @Test("behaviour 4.13: modified services are reported and removed")
    func modifiedServices() throws {
        let (app, characteristic) = CentralApp.exploring()
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, nil))
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.battery])))
        let services = try #require(app.peripheral.services)
        app.take()
        #expect(characteristic.isNotifying)
        app.service.deliver(.servicesModified(peer: app.peer, invalidated: [1, 99]))
        #expect(!characteristic.isNotifying)
        #expect(app.take().calls == ["didModifyServices"])
        #expect(app.invalidated == [services[0]])
        #expect(app.peripheral.services == [services[1]])
        // A new service at the same handles is a new object.
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate])))
        #expect(app.peripheral.services?.last !== services[0])
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([1])))
        #expect(characteristic.value == nil)
    }

    @Test("behaviour 4.16: commands on invalidated attributes fail in their turn")
    func invalidatedAttributesFailInTheirTurn() {
        let (app, characteristic) = CentralApp.exploring()
        app.service.deliver(.servicesModified(peer: app.peer, invalidated: [1]))
        app.take()
        app.peripheral.readValue(for: characteristic)
        app.peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        app.peripheral.setNotifyValue(true, for: characteristic)
        #expect(
            app.take().requests == [
                .readCharacteristic(peer: app.peer, characteristic: 0),
                .writeCharacteristic(peer: app.peer, characteristic: 0, value: [1]),
                .setNotify(peer: app.peer, characteristic: 0, enabled: true),
            ]
        )
        let error = ServiceError(.invalidHandle)
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 0, .failure(error)))
        app.service.deliver(.valueWritten(peer: app.peer, characteristic: 0, error))
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 0, isNotifying: false, error))
        // These events answer no request.
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 0, .failure(error)))
        app.service.deliver(.descriptorWritten(peer: app.peer, descriptor: 0, error))
        #expect(app.take().calls == ["value nil!", "written!", "notifying false!"])
        #expect((app.lastError as? CBError)?.code == .invalidHandle)
    }

    @Test("behaviour 4.20: requests that are pending when their service is invalidated call the delegate")
    func requestsPendingAtServiceChanged() throws {
        let (app, old) = CentralApp.exploring()
        let descriptor = try #require(old.descriptors?.last)
        let service = try #require(old.service)
        app.peripheral.readValue(for: old)
        app.peripheral.writeValue(Data([1]), for: old, type: .withResponse)
        app.peripheral.setNotifyValue(true, for: old)
        app.peripheral.readValue(for: descriptor)
        app.peripheral.writeValue(Data([1]), for: descriptor)
        app.peripheral.discoverCharacteristics(nil, for: service)
        app.service.deliver(.servicesModified(peer: app.peer, invalidated: [1]))
        // The same handles are in use again, and a read of the new characteristic is pending behind the old one.
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate])))
        let found = RemoteCharacteristic(handle: 3, uuid: 0x2A37, properties: 2)
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 1, .success([found])))
        let late = app.take().calls
        #expect(late == ["didModifyServices", "services", "characteristics!"])
        app.peripheral.discoverCharacteristics(nil, for: try #require(app.peripheral.services?.first))
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 1, .success([found])))
        let new = try #require(app.characteristic)
        #expect(new !== old)
        app.peripheral.readValue(for: new)
        app.take()
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([7])))
        #expect(old.value == Data([7]))
        #expect(new.value == nil)
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([8])))
        #expect(new.value == Data([8]))
        let error = ServiceError(.invalidHandle)
        app.service.deliver(.valueWritten(peer: app.peer, characteristic: 3, nil))
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, nil))
        #expect(!old.isNotifying)
        app.service.deliver(.descriptorUpdated(peer: app.peer, descriptor: 5, .failure(error)))
        app.service.deliver(.descriptorWritten(peer: app.peer, descriptor: 5, error))
        // This event answers no request.
        app.service.deliver(.descriptorWritten(peer: app.peer, descriptor: 5, error))
        #expect(app.take().calls.count == 6)
    }

    /// Repeated requests for removed attributes do not grow memory without limit; replies beyond the limit are dropped.
    @Test("AB-G05: pending requests for removed attributes are bounded")
    func requestsForWhatIsGoneAreRememberedWithinABound() {
        let (app, characteristic) = CentralApp.exploring()
        app.service.deliver(.servicesModified(peer: app.peer, invalidated: [1]))
        for _ in 0..<1_100 { app.peripheral.readValue(for: characteristic) }
        #expect(app.take().requests.count == 1_100)
        for _ in 0..<1_100 {
            app.service.deliver(
                .valueRead(peer: app.peer, characteristic: 0, .failure(ServiceError(.invalidHandle)))
            )
        }
        #expect(app.take().calls == [String](repeating: "value nil!", count: 1_024))
    }

    @Test("behaviour 13.7: references back to the owner are weak")
    func backReferencesAreWeak() {
        let (app, characteristic) = CentralApp.exploring()
        let descriptor = characteristic.descriptors![0]
        let service = characteristic.service!
        #expect(service.peripheral === app.peripheral)
        #expect(descriptor.characteristic === characteristic)
        app.peripheral = nil
        #expect(service.peripheral == nil)
        #expect(characteristic.service === service)
    }

    @Test(
        "behaviour 4.6: descriptor values have Apple's types",
        arguments: [
            (0x2900, [1, 0], "1"), (0x2902, [2, 1], "258"), (0x2902, [2], "2"), (0x2903, [], "0"),
            (0x2901, [0x48, 0x69], "Hi"), (0x2904, [1, 2], "2 bytes"), (0x2907, [1], "1 bytes"),
        ] as [(UInt16, [UInt8], String)]
    )
    func valuesOfDescriptors(type: UInt16, octets: [UInt8], expected: String) {
        let (app, characteristic) = CentralApp.exploring()
        let descriptor = RemoteDescriptor(handle: 6, uuid: BluetoothUUID(type))
        app.service.deliver(.descriptorsDiscovered(peer: app.peer, characteristic: 3, .success([descriptor])))
        let object = characteristic.descriptors!.last!
        #expect(object.value == nil)
        app.service.deliver(.descriptorUpdated(peer: app.peer, descriptor: 6, .success(PacketBuffer(octets))))
        switch type {
        case 0x2901: #expect(object.value as? String == expected)
        case 0x2900, 0x2902, 0x2903: #expect((object.value as? NSNumber)?.stringValue == expected)
        default: #expect((object.value as? Data)?.description == expected)
        }
    }
}
