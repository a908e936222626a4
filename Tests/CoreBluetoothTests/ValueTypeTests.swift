import CoreBluetooth
import Testing

@Suite struct ValueTypeTests {
    // MARK: CBUUID

    @Test("behaviour 0.2: UUIDs are equal across their widths")
    func equalAcrossWidths() {
        let forms = [
            CBUUID(string: "180D"), CBUUID(string: "0000180D"), CBUUID(string: "0000180d-0000-1000-8000-00805f9b34fb"),
            CBUUID(data: Data([0x18, 0x0D])),
            CBUUID(nsuuid: UUID(uuidString: "0000180D-0000-1000-8000-00805F9B34FB")!),
        ]
        for form in forms {
            #expect(form == forms[0])
            #expect(form.isEqual(forms[0]))
            #expect(form.hash == forms[0].hash)
        }
        #expect(Set(forms).count == 1)
        #expect(CBUUID(string: "180D") != CBUUID(string: "180F"))
        #expect(!forms[0].isEqual("180D"))
    }

    @Test(
        "behaviour 0.5: a UUID keeps the width that it was written with",
        arguments: [
            ("180d", "180D", 2), ("0000180d", "0000180D", 4),
            ("71da3fd1-7e10-41c1-b16f-4430b506cde7", "71DA3FD1-7E10-41C1-B16F-4430B506CDE7", 16),
        ]
    )
    func theWidthIsKept(text: String, printed: String, octets: Int) {
        let uuid = CBUUID(string: text)
        #expect(uuid.uuidString == printed)
        #expect(uuid.data.count == octets)
        #expect(CBUUID(data: uuid.data).uuidString == printed)
        #expect(uuid.copy() as? CBUUID == uuid)
    }

    @Test("behaviour 0.4: a text or data that is no UUID ends the program as Apple's does")
    func textsThatAreNoUUID() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBUUID(string: "0000180D00001000800000805F9B34FB")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("does not represent a valid UUID"))
        await #expect(processExitsWith: .failure) { _ = CBUUID(data: Data([1, 2, 3])) }
    }

    @Test func namesOfUUIDs() {
        #expect(CBUUID(string: "180D").description == "Heart Rate")
        #expect(CBUUID(string: "FFF0").description == "FFF0")
    }

    // MARK: Errors

    @Test("behaviours 5.26, 5.27: error codes have Apple's values")
    func codesOfErrors() {
        #expect(CBError.Code.unkownDevice == CBError.Code.unknownDevice)
        #expect(CBError.Code.tooManyLEPairedDevices.rawValue == 16)
        #expect(CBError.Code.leGattNearBackgroundNotificationLimit.rawValue == 18)
        #expect(CBATTError.Code.insufficientResources.rawValue == 0x11)
        #expect(CBATTError.Code(rawValue: 0x80)?.rawValue == 0x80)
        #expect(CBError.errorDomain == "CBErrorDomain" && CBATTError.errorDomain == "CBATTErrorDomain")
    }

    @Test(arguments: 0...18)
    func everyErrorHasAText(value: Int) throws {
        let error: any Error = CBError(try #require(CBError.Code(rawValue: value)))
        #expect(value == 0 || error.localizedDescription != "Unknown error.")
        #expect(!error.localizedDescription.contains("CBErrorDomain"))
    }

    @Test(arguments: 0...0xFF)
    func everyATTErrorHasAText(value: Int) throws {
        let error: any Error = CBATTError(try #require(CBATTError.Code(rawValue: value)))
        #expect((error.localizedDescription == "Unknown ATT error.") == (value > 0x11))
    }

    @Test func textsThatAppsCompare() {
        #expect(CBError(.connectionTimeout).localizedDescription == "The connection has timed out unexpectedly.")
        #expect(
            (CBError(.peripheralDisconnected) as NSError).localizedDescription
                == "The specified device has disconnected from us."
        )
        #expect(CBATTError(.insufficientEncryption).localizedDescription == "Encryption is insufficient.")
        #expect(CBError(.unknown, userInfo: [NSLocalizedDescriptionKey: "mine"]).localizedDescription == "mine")
    }

    @Test func errorsCastBothWays() {
        let error: any Error = CBError(.connectionTimeout)
        #expect((error as NSError).domain == CBErrorDomain)
        #expect((error as NSError).code == 6)
        #expect((error as? CBError)?.code == .connectionTimeout)
        let plain: any Error = NSError(domain: CBATTErrorDomain, code: 0x80)
        #expect((plain as? CBATTError)?.code.rawValue == 0x80)
        #expect((plain as? CBATTError)?.errorCode == 0x80)
        #expect(plain as? CBError == nil)
        #expect(CBError(_nsError: error as NSError) == CBError(.connectionTimeout))
        #expect(Set([CBError(.unknown), CBError(.unknown)]).count == 1)
    }

    @Test func errorsAreCaughtByCode() {
        func caught(_ error: any Error) -> String {
            do {
                throw error
            } catch CBError.connectionTimeout {
                return "timeout"
            } catch CBATTError.insufficientEncryption {
                return "encryption"
            } catch let error as CBATTError {
                return "ATT \(error.code.rawValue)"
            } catch {
                return "other"
            }
        }
        #expect(caught(CBError(.connectionTimeout)) == "timeout")
        #expect(caught(NSError(domain: CBErrorDomain, code: 6)) == "timeout")
        #expect(caught(CBATTError(.insufficientEncryption)) == "encryption")
        #expect(caught(NSError(domain: CBATTErrorDomain, code: 0x81)) == "ATT 129")
        #expect(caught(CBError(.unknown)) == "other")
    }

    // MARK: What raises an exception

    @Test("behaviour 4.7: apps may not write the client configuration")
    func theClientConfigurationIsNotWritten() async {
        await #expect(processExitsWith: .failure) {
            let app = CentralApp()
            let characteristic = app.explore()
            app.peripheral.writeValue(Data([1, 0]), for: characteristic.descriptors![0])
        }
    }

    @Test("behaviour 7.4: a fixed value that can be written ends the program as Apple's does")
    func valuesThatCanBeWritten() async {
        await #expect(processExitsWith: .failure) {
            let app = PeripheralApp()
            app.powerOn()
            app.local.characteristics = [
                CBMutableCharacteristic(
                    type: CBUUID(string: "2A37"),
                    properties: [.read, .notify],
                    value: Data([1]),
                    permissions: .readable
                )
            ]
            app.manager.add(app.local)
        }
    }

    @Test("behaviour 7.8: a descriptor that the system makes itself ends the program as Apple's does")
    func descriptorsThatTheSystemMakes() async {
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2902"), value: Data([0, 0]))
        }
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2901"), value: Data([0, 0]))
        }
    }

    // MARK: The rest

    @Test("behaviour 2.10: the keys are Apple's strings")
    func stringsOfKeys() {
        #expect(CBAdvertisementDataOverflowServiceUUIDsKey == "kCBAdvDataHashedServiceUUIDs")
        #expect(CBAdvertisementDataIsConnectable == "kCBAdvDataIsConnectable")
        #expect(CBAdvertisementDataLocalNameKey == "kCBAdvDataLocalName")
        #expect(CBConnectPeripheralOptionEnableAutoReconnect == "kCBConnectOptionAutoReconnect")
    }

    @Test func oldNamesHaveTheSameNumbers() {
        #expect(CBCentralManagerState.poweredOn.rawValue == CBManagerState.poweredOn.rawValue)
        #expect(CBPeripheralManagerState.resetting.rawValue == CBManagerState.resetting.rawValue)
    }

    @Test func objectsAreArgumentsToFormats() {
        #expect(String(format: "%@ %d %@", CBUUID(string: "FFF0"), 3, CBUUID(string: "180D")) == "FFF0 3 Heart Rate")
    }

    @Test func timeIsSecondsSince2001() {
        let now: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
        #expect(abs(now - Date().timeIntervalSinceReferenceDate) < 60)
    }
}
