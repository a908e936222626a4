import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

/// `HARALD_MISUSE=error`: an app that waits for a callback gets an error. Otherwise it gets no callback, as on Apple's
/// systems.
@Suite struct StrictModeTests {
    private func calls(_ app: CentralApp, _ body: () -> Void) -> [String] {
        Misuse.$isStrict.withValue(true, operation: body)
        // Waits for everything already in the queue.
        app.queue.sync {}
        return app.take().calls
    }

    @Test("behaviours 1.6, 1.7: in strict mode, a central's mistakes are reported as errors in its pending callbacks")
    func mistakesOfACentral() {
        let (app, characteristic) = CentralApp.exploring()
        let service = app.peripheral.services![0]
        let descriptor = characteristic.descriptors![1]
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        app.take()
        let peripheral = app.peripheral!
        let commands: [(String, () -> Void)] = [
            ("services!", { peripheral.discoverServices(nil) }),
            ("included!", { peripheral.discoverIncludedServices(nil, for: service) }),
            ("characteristics!", { peripheral.discoverCharacteristics(nil, for: service) }),
            ("descriptors!", { peripheral.discoverDescriptors(for: characteristic) }),
            ("value nil!", { peripheral.readValue(for: characteristic) }),
            ("written!", { peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse) }),
            ("notifying false!", { peripheral.setNotifyValue(true, for: characteristic) }),
            ("descriptor value!", { peripheral.readValue(for: descriptor) }),
            ("descriptor written!", { peripheral.writeValue(Data([1]), for: descriptor) }),
            ("rssi 127!", { peripheral.readRSSI() }),
            ("no channel!", { peripheral.openL2CAPChannel(128) }),
        ]
        for (call, command) in commands {
            #expect(calls(app, command) == [call])
            #expect((app.lastError as? CBError)?.code == .notConnected, "\(call)")
            #expect("\(app.lastError!)".contains("API MISUSE"))
            // The behaviour of Apple's systems.
            command()
            app.queue.sync {}
            #expect(app.take() == ([], []), "\(call)")
        }
        // Writes without response have no callback.
        #expect(calls(app) { peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse) }.isEmpty)
        app.service.deliver(.stateChanged(.poweredOff))
        app.take()
        #expect(calls(app) { app.manager.connect(peripheral) } == ["didFailToConnect!"])
        #expect((app.lastError as? CBError)?.code == .operationNotSupported)
        #expect(calls(app) { app.manager.cancelPeripheralConnection(peripheral) } == ["didDisconnect!"])
        #expect((app.lastError as? CBError)?.code == .operationNotSupported)
        #expect(calls(app) { app.manager.scanForPeripherals(withServices: nil) }.isEmpty)
        #expect(peripheral.state == .disconnected)
    }

    @Test("behaviour 3.8: in strict mode a peripheral of another manager fails to connect and to be cancelled")
    func aPeripheralOfAnotherManager() {
        let (app, other) = (CentralApp(), CentralApp())
        for app in [app, other] {
            app.powerOn()
            app.discover()
            app.take()
        }
        #expect(calls(app) { app.manager.connect(other.peripheral) } == ["didFailToConnect!"])
        #expect((app.lastError as? CBError)?.code == .unknownDevice)
        app.lastError = nil
        #expect(calls(app) { app.manager.cancelPeripheralConnection(other.peripheral) } == ["didDisconnect!"])
        #expect((app.lastError as? CBError)?.code == .unknownDevice)
        #expect(other.take() == ([], []))
    }

    @Test(
        "behaviours 1.6, 7.15: in strict mode, a peripheral's mistakes are reported as errors in its pending callbacks"
    )
    func mistakesOfAPeripheral() {
        let app = PeripheralApp()
        func calls(_ body: () -> Void) -> [String] {
            Misuse.$isStrict.withValue(true, operation: body)
            app.queue.sync {}
            return app.take().calls
        }
        #expect(calls { app.manager.add(app.local) } == ["added 180D!"])
        #expect(calls { app.manager.startAdvertising(nil) } == ["advertising!"])
        #expect((app.lastError as? CBError)?.code == .operationNotSupported)
        app.lastError = nil
        #expect(calls { app.manager.publishL2CAPChannel(withEncryption: false) } == ["published 0!"])
        #expect((app.lastError as? CBError)?.code == .operationNotSupported)
        app.lastError = nil
        #expect(calls { app.manager.unpublishL2CAPChannel(128) } == ["unpublished 128!"])
        #expect((app.lastError as? CBError)?.code == .operationNotSupported)
        app.powerOn()
        let data: [String: Any] = [
            CBAdvertisementDataLocalNameKey: "x", CBAdvertisementDataManufacturerDataKey: Data([1, 2]),
        ]
        #expect(calls { app.manager.startAdvertising(data) } == ["advertising!"])
        #expect((app.lastError as? CBError)?.code == .invalidParameters)
        // As observed on Apple's systems: keys that cannot be advertised are dropped.
        app.manager.startAdvertising(data)
        #expect(app.take().requests == [.startAdvertising(AdvertisingRequest(localName: "x"))])
    }
}
