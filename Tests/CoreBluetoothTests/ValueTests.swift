import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

@Suite struct ValueTests {
    @Test("behaviour 5.1: values are delivered alike, whether read or notified")
    func readsAndNotificationsArriveAlike() {
        let (app, characteristic) = CentralApp.exploring()
        app.peripheral.readValue(for: characteristic)
        #expect(app.take().requests == [.readCharacteristic(peer: app.peer, characteristic: 3)])
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([0x16])))
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([0x17])))
        // behaviour 5.20: each callback with the value of its own event.
        #expect(app.take().calls == ["value 16", "value 17"])
        #expect(characteristic.value == Data([0x17]))
    }

    @Test("behaviour 5.4: refused requests have the ATT code", arguments: [UInt8(0x02), 0x0F, 0x80, 0xFF])
    func refusalsCarryTheATTCode(status: UInt8) {
        let app = CentralApp()
        app.explore()
        app.service.deliver(
            .valueRead(peer: app.peer, characteristic: 3, .failure(ServiceError(att: ATTStatus(rawValue: status))))
        )
        #expect(app.take().calls == ["value nil!"])
        #expect((app.lastError as? CBATTError)?.code.rawValue == Int(status))
        #expect((app.lastError as? CBATTError)?.code == CBATTError.Code(rawValue: Int(status)))
        #expect((app.lastError as NSError?)?.domain == CBATTErrorDomain)
        #expect(app.lastError as? CBError == nil)
    }

    @Test("behaviour 5.5: writes with and without response reach the service, and those with response are reported")
    func writesAreToldBack() {
        let (app, characteristic) = CentralApp.exploring()
        app.peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        app.peripheral.writeValue(Data([2]), for: characteristic, type: .withoutResponse)
        #expect(
            app.take().requests == [
                .writeCharacteristic(peer: app.peer, characteristic: 3, value: [1]),
                .writeWithoutResponse(peer: app.peer, characteristic: 3, value: [2]),
            ]
        )
        app.service.deliver(.valueWritten(peer: app.peer, characteristic: 3, nil))
        app.service.deliver(.valueWritten(peer: app.peer, characteristic: 3, ServiceError(att: ATTStatus(rawValue: 3))))
        #expect(app.take().calls == ["written", "written!"])
        #expect((app.lastError as? CBATTError)?.code == .writeNotPermitted)
    }

    @Test("behaviours 5.7, 5.8: the longest write depends on its type and on the connection")
    func longestWrites() {
        let app = CentralApp.discovering()
        #expect(app.peripheral.maximumWriteValueLength(for: .withResponse) == 0)
        #expect(app.peripheral.maximumWriteValueLength(for: .withoutResponse) == 0)
        app.connect(maximumWrite: 20)
        #expect(app.peripheral.maximumWriteValueLength(for: .withResponse) == 512)
        #expect(app.peripheral.maximumWriteValueLength(for: .withoutResponse) == 20)
        app.service.deliver(.maximumWriteLengthChanged(peer: app.peer, withoutResponse: 182))
        #expect(app.peripheral.maximumWriteValueLength(for: .withoutResponse) == 182)
    }

    @Test("behaviour 5.11: a write without response that is too long is truncated")
    func aWriteWithoutResponseThatIsTooLongIsCut() {
        let (app, characteristic) = CentralApp.exploring()
        app.peripheral.writeValue(Data(0..<30), for: characteristic, type: .withoutResponse)
        let cut = PacketBuffer(Array(0..<20))
        #expect(app.take().requests == [.writeWithoutResponse(peer: app.peer, characteristic: 3, value: cut)])
        #expect(CapturedLog.contains(app.peer.uuidString, "cut from 30 bytes"))
    }

    @Test("behaviour 5.12: a write without response needs its property")
    func aWriteWithoutResponseNeedsItsProperty() {
        let (app, characteristic) = CentralApp.exploring(properties: [.read, .write])
        app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        #expect(app.take() == ([], []))
        #expect(CapturedLog.contains("Write Without Response", characteristic.description))
        #expect(app.peripheral.canSendWriteWithoutResponse)
    }

    @Test("behaviours 5.13 to 5.15, 14.22: writes without response follow the service's credits")
    func flowControlOfWrites() {
        let (app, characteristic) = CentralApp.exploring()
        #expect(app.peripheral.canSendWriteWithoutResponse)
        #expect(ServiceLimits.writesWithoutResponse == 20)
        for _ in 0..<ServiceLimits.writesWithoutResponse {
            #expect(app.peripheral.canSendWriteWithoutResponse)
            app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        }
        #expect(!app.peripheral.canSendWriteWithoutResponse)
        app.peripheral.writeValue(Data([2]), for: characteristic, type: .withoutResponse)
        #expect(app.take().requests.count == ServiceLimits.writesWithoutResponse)
        app.service.deliver(.writeCreditsReturned(peer: app.peer, count: 1))
        app.service.deliver(.writeCreditsReturned(peer: app.peer, count: 1))
        #expect(app.take().calls == ["ready"])
        #expect(app.peripheral.canSendWriteWithoutResponse)
        // The credits are used up again, so their return is reported again.
        app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        app.service.deliver(.writeCreditsReturned(peer: app.peer, count: 20))
        #expect(app.take().calls == ["ready"])
        // Credits beyond the limit are ignored.
        app.service.deliver(.writeCreditsReturned(peer: app.peer, count: .max))
        for _ in 0..<30 { app.peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse) }
        #expect(app.take().requests.count == ServiceLimits.writesWithoutResponse)
    }

    @Test("behaviour 4.17: isNotifying follows the service")
    func subscriptionsFollowTheService() {
        let (app, characteristic) = CentralApp.exploring()
        app.peripheral.setNotifyValue(true, for: characteristic)
        #expect(app.take().requests == [.setNotify(peer: app.peer, characteristic: 3, enabled: true)])
        #expect(!characteristic.isNotifying)
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, nil))
        #expect(app.take().calls == ["notifying true"])
        app.service.deliver(
            .notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, ServiceError(.unknown))
        )
        #expect(app.take().calls == ["notifying true!"])
    }

    @Test("behaviours 4.17, 4.21, 5.28: values reach the delegate without a subscription, while isNotifying is false")
    func valuesBesideTheSubscription() {
        let (app, characteristic) = CentralApp.exploring()
        app.peripheral.setNotifyValue(true, for: characteristic)
        _ = app.take()
        app.service.deliver(.valueNotified(peer: app.peer, characteristic: 3, [1]))
        #expect(!characteristic.isNotifying)
        let error = ServiceError(att: ATTStatus(rawValue: 0x0A))
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: false, error))
        app.service.deliver(.valueNotified(peer: app.peer, characteristic: 3, [2]))
        #expect(app.take().calls == ["value 01", "notifying false!", "value 02"])
        #expect(!characteristic.isNotifying)
        #expect(CBATTError(.attributeNotFound).localizedDescription == "The attribute could not be found.")
    }

    @Test("behaviour 5.20: each notification has its own callback, in order, with its own value")
    func eachNotificationHasItsOwnCallback() {
        let (app, characteristic) = CentralApp.exploring()
        for octet in 1...5 as ClosedRange<UInt8> {
            app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([octet])))
        }
        // The app records the value in its callback.
        #expect(app.take().calls == ["value 01", "value 02", "value 03", "value 04", "value 05"])
        #expect(characteristic.value == Data([5]))
    }

    @Test("behaviour 5.6: a write sends the data as of the call")
    func theDataOfAWriteAreCopied() throws {
        let (app, characteristic) = CentralApp.exploring()
        let octets = try #require(NSMutableData(length: 2))
        let data = octets as Data
        app.peripheral.writeValue(data, for: characteristic, type: .withResponse)
        octets.mutableBytes.storeBytes(of: 0xFF, as: UInt8.self)
        #expect(app.take().requests == [.writeCharacteristic(peer: app.peer, characteristic: 3, value: [0, 0])])
    }

    @Test("behaviour 5.24: the signal strength can be read, and is reported")
    func signalStrength() {
        let app = CentralApp.connected()
        #expect(app.peripheral.rssi == nil)
        app.peripheral.readRSSI()
        #expect(app.take().requests == [.readRSSI(peer: app.peer)])
        app.service.deliver(.rssiRead(peer: app.peer, .success(-42)))
        app.service.deliver(.rssiRead(peer: app.peer, .failure(ServiceError(.unknown))))
        #expect(app.take().calls == ["rssi -42", "rssi 127!"])
        #expect(app.peripheral.rssi == -42)
    }

    @Test func descriptors() {
        let (app, characteristic) = CentralApp.exploring()
        let description = characteristic.descriptors![1]
        app.peripheral.readValue(for: description)
        app.peripheral.writeValue(Data([0x41]), for: description)
        app.peripheral.discoverDescriptors(for: characteristic)
        #expect(
            app.take().requests == [
                .readDescriptor(peer: app.peer, descriptor: 5),
                .writeDescriptor(peer: app.peer, descriptor: 5, value: [0x41]),
                .discoverDescriptors(peer: app.peer, characteristic: 3),
            ]
        )
        app.service.deliver(.descriptorUpdated(peer: app.peer, descriptor: 5, .success([0x42])))
        app.service.deliver(.descriptorWritten(peer: app.peer, descriptor: 5, nil))
        app.service.deliver(.descriptorsDiscovered(peer: app.peer, characteristic: 3, .failure(ServiceError(.unknown))))
        #expect(app.take().calls == ["descriptor value", "descriptor written", "descriptors!"])
        #expect(description.value as? String == "B")
    }

    @Test func descriptionsNameWhatMatters() {
        let (app, characteristic) = CentralApp.exploring()
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([0x16, 0x50])))
        #expect(
            app.peripheral.description.contains(
                "identifier = \(app.peer.uuidString), name = (null), mtu = 23, state = connected>"
            )
        )
        #expect(app.peripheral.services![0].description.hasSuffix("isPrimary = YES, UUID = Heart Rate>"))
        #expect(
            characteristic.description.hasSuffix(
                "UUID = 2A37, properties = 0x1e, value = {length = 2, bytes = 0x1650}, notifying = NO>"
            )
        )
        #expect(characteristic.description.hasPrefix("<CBCharacteristic: 0x"))
        #expect(
            characteristic.descriptors![0].description.hasSuffix(
                "UUID = Client Characteristic Configuration, value = (null)>"
            )
        )
    }

    @Test func eventsForHandlesThatNobodyKnowsAreDropped() {
        let app = CentralApp()
        app.explore()
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 99, .success([1])))
        app.service.deliver(.descriptorUpdated(peer: app.peer, descriptor: 99, .success([1])))
        app.service.deliver(.characteristicsDiscovered(peer: app.peer, service: 99, .success([])))
        app.service.deliver(.descriptorsDiscovered(peer: app.peer, characteristic: 99, .success([])))
        app.service.deliver(.valueRead(peer: UUID(), characteristic: 3, .success([1])))
        #expect(app.take().calls.isEmpty)
    }
}
