import BluetoothTypes
import CoreBluetooth
// No name becomes ambiguous when these modules are imported next to CoreBluetooth.
import CoreFoundation
import SampleMessages
import ServiceMessages
import ServiceStandIns
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
        "behaviour 0.5: a UUID keeps its original width",
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

    @Test("behaviour 0.4: an invalid UUID traps as on Apple's systems")
    func textsThatAreNoUUID() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBUUID(string: "0000180D00001000800000805F9B34FB")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("does not represent a valid UUID"))
        await #expect(processExitsWith: .failure) { _ = CBUUID(data: Data([1, 2, 3])) }
    }

    @Test(
        "behaviour 0.3: a long UUID has five groups of digits",
        arguments: [
            ("71da3fd1-7e10-41c1-b16f-4430b506cde7", true), ("00000000-0000-0000-0000-000000000000", true),
            ("71da3fd17e10-41c1-b16f-4430b506cde7-", false), ("{71da3fd1-7e10-41c1-b16f-4430b506cde7}", false),
            ("71da3fd1-7e10-41c1-b16f-4430b506cde", false), ("71da3fd1-7e10-41c1-b16f-4430b506cdeg", false),
        ]
    )
    func theFormOfALongUUID(text: String, isGood: Bool) {
        // The texts that the initialiser accepts, without the ones that trap.
        #expect((BluetoothUUID(text) != nil) == isGood)
        if isGood { #expect(CBUUID(string: text).uuidString == text.uppercased()) }
    }

    @Test("behaviour 0.9: a UUID created without arguments consists of zeros")
    func aUUIDOfNothing() {
        #expect(CBUUID().uuidString == "00000000-0000-0000-0000-000000000000")
        #expect(CBUUID() == CBUUID(data: Data(count: 16)))
        #expect(CBUUID() != CBUUID(string: "0000"))
    }

    @Test("behaviour 0.7: objects for devices and UUIDs can be dictionary keys")
    func objectsAreKeys() {
        let (app, other) = (CentralApp(), CentralApp())
        for app in [app, other] {
            app.powerOn()
            app.discover()
        }
        let names: [CBPeripheral: String] = [app.peripheral: "a", other.peripheral: "b"]
        #expect(names[app.peripheral] == "a" && names[other.peripheral] == "b")
        let old = NSMutableDictionary()
        old.setObject("a", forKey: app.peripheral)
        old.setObject("c", forKey: CBUUID(string: "180D"))
        #expect(old.object(forKey: app.peripheral as Any) as? String == "a")
        #expect(old.object(forKey: CBUUID(string: "0000180D")) as? String == "c")
        #expect(old.object(forKey: other.peripheral as Any) == nil)
        let peripheral = PeripheralApp.published()
        peripheral.service.deliver(.subscribed(peripheral.central, characteristic: peripheral.characteristicID))
        let central = peripheral.centrals[0]
        #expect(central.copy() as? CBCentral === central && [central: 1][central] == 1)
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
        #expect(CBError.errorDomain == "CBErrorDomain")
        #expect(CBATTError.errorDomain == "CBATTErrorDomain")
    }

    @Test(arguments: 0...20)
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

    /// A text of Apple's system, and where it is quoted.
    struct QuotedText: Sendable, CustomTestStringConvertible {
        let code: Int
        let text: String
        let source: String
        var testDescription: String { "\(code): \(source)" }

        init(_ code: Int, _ text: String, _ source: String) {
            (self.code, self.text, self.source) = (code, text, source)
        }
    }

    static let texts = [
        QuotedText(0, "Unknown error.", "Connichiwa#62"),
        QuotedText(1, "One or more parameters were invalid.", "kable#42"),
        QuotedText(3, "The specified device is not connected.", "INDANCSClient#5"),
        QuotedText(6, "The connection has timed out unexpectedly.", "flutter_reactive_ble#799, bleno-mac#10"),
        QuotedText(7, "The specified device has disconnected from us.", "kable#165"),
        QuotedText(8, "The specified UUID is not allowed for this operation.", "notes in the sources of four apps"),
        QuotedText(9, "Advertising has already started.", "ContactAssistApp/mobile#96, flutter_ble_peripheral#205"),
        QuotedText(10, "The connection has failed unexpectedly.", "notes in the sources of two apps"),
        QuotedText(14, "Peer removed pairing information", "kable#334, flutter_blue_plus#1336"),
        QuotedText(
            15,
            "Failed to encrypt the connection, the connection has timed out unexpectedly.",
            "capacitor-community/bluetooth-le#482, cordova-plugin-bluetoothle#728, python-bluezero#291"
        ),
    ]

    static let attTexts = [
        QuotedText(1, "The handle is invalid.", "BabyBluetooth#77, IOS-DFU-Library#58"),
        QuotedText(2, "Reading is not permitted.", "SwiftyBluetooth#45"),
        QuotedText(3, "Writing is not permitted.", "flutter_blue_plus, README"),
        QuotedText(4, "The command is invalid.", "flutter_blue_plus, README"),
        QuotedText(5, "Authentication is insufficient.", "dotnet-bluetooth-le#486, u-blox BLE#2"),
        QuotedText(6, "The request is not supported.", "bleak#1583"),
        QuotedText(7, "The offset is invalid.", "bleak#1384"),
        QuotedText(8, "Authorization is insufficient.", "flutter_blue_plus, README"),
        QuotedText(9, "The prepare queue is full.", "flutter_blue_plus, README"),
        QuotedText(10, "The attribute could not be found.", "flutter_blue_plus#640, BabyBluetooth#90"),
        QuotedText(11, "The attribute is not long.", "flutter_blue_plus, README"),
        QuotedText(12, "The encryption key size is insufficient.", "flutter_blue_plus, README"),
        QuotedText(13, "The value's length is invalid.", "IOS-DFU-Library#395"),
        QuotedText(14, "Unlikely error.", "flutter_blue_plus, README"),
        QuotedText(15, "Encryption is insufficient.", "react-native-ble-manager#1427"),
        QuotedText(16, "The group type is unsupported.", "flutter_blue_plus, README"),
        QuotedText(17, "Resources are insufficient.", "flutter_blue_plus, README"),
        QuotedText(131, "Unknown ATT error.", "SwiftyBluetooth#57"),
        QuotedText(255, "Unknown ATT error.", "react-native-ble-manager#345"),
    ]

    @Test("behaviour 5.26: errors have the texts that reports quote, which apps compare", arguments: texts)
    func textsOfErrors(quoted: QuotedText) throws {
        let error = CBError(try #require(CBError.Code(rawValue: quoted.code)))
        #expect(error.localizedDescription == quoted.text)
        #expect((error as NSError).localizedDescription == quoted.text)
    }

    @Test("behaviour 5.27: errors of the attribute protocol have the texts that reports quote", arguments: attTexts)
    func textsOfATTErrors(quoted: QuotedText) throws {
        let error = CBATTError(try #require(CBATTError.Code(rawValue: quoted.code)))
        #expect(error.localizedDescription == quoted.text)
        #expect((error as NSError).localizedDescription == quoted.text)
    }

    @Test func aTextOfTheAppsOwnIsKept() {
        #expect(CBError(.unknown, userInfo: [NSLocalizedDescriptionKey: "mine"]).localizedDescription == "mine")
    }

    /// The output of `print` for an error matches that of Apple's systems, in each of its forms.
    @Test func errorsPrintTheirText() {
        let text = "The specified device has disconnected from us."
        let whole = "Error Domain=CBErrorDomain Code=7 \"\(text)\" UserInfo={NSLocalizedDescription=\(text)}"
        let error: any Error = CBError(.peripheralDisconnected)
        #expect("\(error)" == whole && String(reflecting: error) == whole)
        #expect("\(error as NSError)".contains("Code=7 \"\(text)\""))
        #expect("\(CBError(.peripheralDisconnected) as NSError)".contains("Code=7 \"\(text)\""))
        let refusal: any Error = CBATTError(.insufficientEncryption)
        #expect("\(refusal)".hasPrefix("Error Domain=CBATTErrorDomain Code=15 \"Encryption is insufficient.\""))
        // The underlying error is included, but does not replace the text.
        let app = CentralApp.connected()
        let lost = ServiceError(.connectionTimeout, reason: "no packet")
        app.service.deliver(.disconnected(peer: app.peer, lost, isReconnecting: false))
        let told = app.lastError.map { "\($0)" } ?? ""
        #expect(told.contains("\"The connection has timed out unexpectedly.\""))
        #expect(told.contains("no packet"))
        #expect(!"\(app.lastError! as NSError)".contains("(null)"))
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

    // MARK: Exceptions

    @Test("behaviour 4.7: apps may not write the client configuration")
    func theClientConfigurationIsNotWritten() async {
        await #expect(processExitsWith: .failure) {
            let (app, characteristic) = CentralApp.exploring()
            app.peripheral.writeValue(Data([1, 0]), for: characteristic.descriptors![0])
        }
    }

    @Test("behaviour 7.4: a fixed value that is writable traps as on Apple's systems")
    func valuesThatCanBeWritten() async {
        await #expect(processExitsWith: .failure) {
            let app = PeripheralApp.poweredOn()
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

    @Test("behaviour 7.8: creating a descriptor reserved for the system traps as on Apple's systems")
    func descriptorsThatTheSystemMakes() async {
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2902"), value: Data([0, 0]))
        }
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2901"), value: Data([0, 0]))
        }
    }

    // MARK: Other types

    @Test("behaviour 2.10: the keys are Apple's strings")
    func stringsOfKeys() {
        #expect(CBAdvertisementDataOverflowServiceUUIDsKey == "kCBAdvDataHashedServiceUUIDs")
        #expect(CBAdvertisementDataIsConnectable == "kCBAdvDataIsConnectable")
        #expect(CBAdvertisementDataLocalNameKey == "kCBAdvDataLocalName")
        #expect(CBConnectPeripheralOptionEnableAutoReconnect == "kCBConnectOptionAutoReconnect")
        #expect(CBConnectPeripheralOptionEnableTransportBridgingKey == "kCBConnectOptionEnableTransportBridging")
        #expect(CBConnectPeripheralOptionRequiresANCS == "kCBConnectOptionRequiresANCS")
        #expect(CBCentralManagerOptionRestoreIdentifierKey == "kCBInitOptionRestoreIdentifier")
        #expect(CBPeripheralManagerOptionRestoreIdentifierKey == CBCentralManagerOptionRestoreIdentifierKey)
        #expect(CBCentralManagerRestoredStatePeripheralsKey == "kCBRestoredPeripherals")
        #expect(CBCentralManagerRestoredStateScanServicesKey == "kCBRestoredScanServices")
        #expect(CBCentralManagerRestoredStateScanOptionsKey == "kCBRestoredScanOptions")
        #expect(CBPeripheralManagerRestoredStateServicesKey == "kCBRestoredServices")
        #expect(CBPeripheralManagerRestoredStateAdvertisementDataKey == "kCBRestoredAdvertisement")
    }

    @Test func oldNamesHaveTheSameNumbers() {
        #expect(CBCentralManagerState.poweredOn.rawValue == CBManagerState.poweredOn.rawValue)
        #expect(CBPeripheralManagerState.resetting.rawValue == CBManagerState.resetting.rawValue)
    }

    @Test func objectsAreArgumentsToFormats() {
        #expect(String(format: "%@ %d %@", CBUUID(string: "FFF0"), 3, CBUUID(string: "180D")) == "FFF0 3 Heart Rate")
        let uuids = [CBUUID(string: "FFF0"), CBUUID(string: "180D")]
        #expect(String(format: "%@ %d", uuids as any CVarArg, 3) == "(\n    FFF0,\n    Heart Rate\n) 3")
        #expect(String(format: "%@", [CBUUID]()) == "(\n)")
        let services: [CBService] = [CBMutableService(type: uuids[0], primary: true)]
        #expect(String(format: "%@", services).contains("UUID = FFF0"))
    }

    @Test func timeIsSecondsSince2001() {
        let now: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
        let minute: CFTimeInterval = 60
        #expect(abs(now - Date().timeIntervalSinceReferenceDate) < minute)
    }
}
