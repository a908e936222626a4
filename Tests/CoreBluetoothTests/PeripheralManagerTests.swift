import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

/// An app in the peripheral role, and all its delegate callbacks.
final class PeripheralApp: NSObject, CBPeripheralManagerDelegate {
    let service = StandInService.logged()
    let queue = DispatchQueue(label: "app")
    private(set) var manager: CBPeripheralManager!
    var calls: [String] = []
    var lastError: (any Error)?
    var requests: [CBATTRequest] = []
    var centrals: [CBCentral] = []
    let dynamic = CBMutableCharacteristic(
        type: CBUUID(string: "2A37"),
        properties: [.read, .write, .notify],
        value: nil,
        permissions: [.readable, .writeable]
    )
    let local = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    let central = CentralInfo(identifier: UUID(), maximumUpdateLength: 20)
    /// The manager's identifiers for the service that ``publish()`` adds, and for its characteristic.
    private(set) var serviceID = LocalAttributeID(0)
    private(set) var characteristicID = LocalAttributeID(0)

    override init() {
        super.init()
        manager = service.run { CBPeripheralManager(delegate: self, queue: queue) }
    }

    static func poweredOn() -> PeripheralApp {
        let app = PeripheralApp()
        app.powerOn()
        return app
    }

    static func published() -> PeripheralApp {
        let app = PeripheralApp()
        app.publish()
        return app
    }

    func powerOn() {
        service.deliver(.stateChanged(.poweredOn))
        take()
    }

    /// Publishes a service with one dynamic characteristic.
    func publish() {
        powerOn()
        local.characteristics = [dynamic]
        manager.add(local)
        if let published = takePublished().first {
            (serviceID, characteristicID) = (published.id, published.characteristics[0].id)
        }
        service.deliver(.serviceAdded(serviceID, nil))
        take()
    }

    /// The services added since requests were last removed.
    func takePublished() -> [LocalService] {
        service.takeRequests().compactMap {
            if case .peripheral(.addService(let service)) = $0 { service } else { nil }
        }
    }

    @discardableResult
    func take() -> (calls: [String], requests: [Request]) {
        defer { calls = [] }
        return (calls, service.takeRequests())
    }

    private func note(_ call: String, _ error: (any Error)? = nil) {
        dispatchPrecondition(condition: .onQueue(queue))
        lastError = error
        calls.append(error == nil ? call : call + "!")
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        note("state \(peripheral.state.rawValue)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        note("advertising", error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        note("added \(service.uuid.uuidString)", error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        centrals.append(central)
        note("subscribed \(characteristic === dynamic)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        note("unsubscribed \(characteristic === dynamic)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        requests = [request]
        note("read")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        self.requests = requests
        note("write \(requests.count)")
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { note("ready") }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        note("published \(PSM)", error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        note("unpublished \(PSM)", error)
    }
}

@Suite struct PeripheralManagerTests {
    @Test("behaviour 1.6: commands of a peripheral without power are ignored and logged")
    func commandsWithoutPowerAreIgnoredAndLogged() {
        let app = PeripheralApp()
        #expect(app.manager.state == .unknown)
        app.manager.add(app.local)
        app.manager.remove(app.local)
        app.manager.removeAllServices()
        app.manager.startAdvertising(nil)
        app.manager.stopAdvertising()
        #expect(!app.manager.updateValue(Data(), for: app.dynamic, onSubscribedCentrals: nil))
        #expect(app.take() == ([], []))
        #expect(CapturedLog.contains("API MISUSE", app.manager.description, "powered on state"))
    }

    @Test("behaviours 1.13, 1.14: services and advertising return with the power, and a reset leaves nothing")
    func servicesReturnAfterPowerOff() {
        let app = PeripheralApp.published()
        app.manager.startAdvertising(nil)
        app.service.deliver(.advertisingStarted(nil))
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        app.service.deliver(.stateChanged(.poweredOff))
        #expect(!app.manager.isAdvertising)
        #expect(app.dynamic.subscribedCentrals == [])
        app.powerOn()
        #expect(app.manager.isAdvertising)
        #expect(app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil))
        app.service.deliver(.stateChanged(.resetting))
        app.powerOn()
        #expect(!app.manager.isAdvertising)
        #expect(!app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil))
    }

    /// Updates in flight are lost with their centrals. The credits return, but no callback is due any more.
    @Test("behaviours 1.13, 7.43: pending value updates end with the power")
    func updatesThatWaitedEndWithThePower() {
        let app = PeripheralApp.published()
        while app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil) {}
        app.service.deliver(.stateChanged(.poweredOff))
        app.powerOn()
        for _ in 0..<ServiceLimits.valueUpdates {
            #expect(app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil))
        }
        app.take()
        app.service.deliver(.updateCreditsReturned(count: 1))
        #expect(app.take().calls.isEmpty)
    }

    @Test("behaviour 7.43: each refused update is followed by one callback, whether for lack of credits or of power")
    func aCallbackAfterEachFalse() {
        let app = PeripheralApp()
        func update() -> Bool { app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil) }
        #expect(!update())
        #expect(!update())
        app.service.deliver(.stateChanged(.poweredOn))
        #expect(app.take().calls == ["state 5", "ready"])
        app.publish()
        for _ in 1...3 {
            while update() {}
            #expect(!update())
            app.service.deliver(.updateCreditsReturned(count: 2))
            #expect(app.take().calls == ["ready"])
            app.service.deliver(.updateCreditsReturned(count: 1))
            #expect(app.take().calls.isEmpty)
        }
        // Turning the power off clears the queue, but the callback is still due.
        while update() {}
        app.service.deliver(.stateChanged(.poweredOff))
        #expect(!update())
        #expect(app.take().calls == ["state 4"])
        app.service.deliver(.stateChanged(.poweredOn))
        #expect(app.take().calls == ["state 5", "ready"])
        #expect(update())
    }

    @Test("behaviour 7.46: keeping the delegate's queue busy delays the callback")
    func aBusyQueueKeepsTheCallbackFromComing() {
        let app = PeripheralApp.published()
        while app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil) {}
        let (isBusy, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        app.queue.async {
            isBusy.signal()
            goesOn.wait()
        }
        isBusy.wait()
        app.service.post(.updateCreditsReturned(count: 1))
        // There is a credit, and the callback has not arrived yet.
        #expect(app.calls.isEmpty)
        goesOn.signal()
        app.queue.sync {}
        #expect(app.take().calls == ["ready"])
    }

    @Test("behaviour 7.6: setting the value of a published characteristic neither notifies nor responds")
    func settingTheValueDoesNothing() {
        let app = PeripheralApp.published()
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        app.take()
        app.dynamic.value = Data([9])
        #expect(app.take() == ([], []))
        let read = Event.readRequested(transaction: 1, app.central, characteristic: app.characteristicID, offset: 0)
        app.service.deliver(read)
        #expect(app.requests[0].value == nil)
        app.manager.respond(to: app.requests[0], withResult: .success)
        #expect(app.take().requests == [.respond(transaction: 1, status: .success, value: [])])
    }

    // MARK: Publishing

    @Test("behaviour 7.1: each addition of a service is reported once, even if it is removed")
    func everyAdditionIsReportedOnce() {
        let app = PeripheralApp.poweredOn()
        let other = CBMutableService(type: CBUUID(string: "180F"), primary: false)
        app.manager.add(app.local)
        app.manager.add(other)
        // A service removed before the report is still reported.
        app.manager.remove(app.local)
        let requests = app.service.takeRequests()
        let ids = requests.compactMap { if case .peripheral(.addService(let service)) = $0 { service.id } else { nil } }
        #expect(requests == [requests[0], requests[1], .removeService(ids[0])] && ids.count == 2)
        app.service.deliver(.serviceAdded(ids[0], nil))
        app.service.deliver(.serviceAdded(ids[1], ServiceError(.uuidNotAllowed)))
        app.service.deliver(.serviceAdded(ids[1], nil))
        #expect(app.calls == ["added 180D", "added 180F!"])
        #expect((app.lastError as? CBError)?.code == .uuidNotAllowed)
        app.take()
        app.manager.remove(other)
        #expect(app.take().requests.isEmpty)
        #expect(CapturedLog.contains("API MISUSE", other.description, "not published"))
    }

    private static func service(_ uuid: String, _ characteristics: [String]) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
        service.characteristics = characteristics.map {
            CBMutableCharacteristic(type: CBUUID(string: $0), properties: .read, value: nil, permissions: .readable)
        }
        return service
    }

    @Test("published services keep their identifiers after a relaunch, in whatever order they are added")
    func namesOutlastTheApp() {
        let kinds = [("180D", ["2A37", "2A38", "2A37"]), ("180F", ["2A19"]), ("180D", ["2A37"])]
        let names = [[0, 1, 2], [1, 0, 2], [0, 2, 1]].map { order in
            let app = PeripheralApp.poweredOn()
            for kind in order { app.manager.add(Self.service(kinds[kind].0, kinds[kind].1)) }
            return Set(app.takePublished().map { [$0.id] + $0.characteristics.map(\.id) })
        }
        #expect(names[0] == names[1] && names[1] == names[2])
        #expect(Set(names[0].joined()).count == 8)
    }

    @Test("an identifier is not reused for another service")
    func namesAreNotUsedAgain() {
        let app = PeripheralApp.poweredOn()
        let service = Self.service("180D", ["2A37"])
        var ids: Set<LocalAttributeID> = []
        for round in 0..<4 {
            app.manager.add(service)
            for published in app.takePublished() {
                ids.formUnion([published.id] + published.characteristics.map(\.id))
                app.service.deliver(.serviceAdded(published.id, nil))
            }
            round == 1 ? app.manager.removeAllServices() : app.manager.remove(service)
        }
        #expect(ids.count == 8)
    }

    @Test func theWholeTreeIsSent() throws {
        let app = PeripheralApp.poweredOn()
        let included = CBMutableService(type: CBUUID(string: "180F"), primary: false)
        let cached = CBMutableCharacteristic(
            type: CBUUID(string: "2A38"),
            properties: .read,
            value: Data([1]),
            permissions: .readable
        )
        let secret = CBMutableCharacteristic(
            type: CBUUID(string: "2A39"),
            properties: [.read, .notifyEncryptionRequired],
            value: nil,
            permissions: .readEncryptionRequired
        )
        secret.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Mail"),
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicFormatString), value: Data([4, 0])),
        ]
        app.local.characteristics = [cached, secret]
        app.local.includedServices = [included]
        app.manager.add(included)
        app.manager.add(app.local)
        let published = app.takePublished()
        let ids = published.map(\.id) + published.flatMap(\.characteristics).map(\.id)
        try #require(published.count == 2 && Set(ids).count == 4)
        let expected = LocalService(
            id: ids[1],
            uuid: 0x180D,
            isPrimary: true,
            includedServices: [ids[0]],
            characteristics: [
                LocalCharacteristic(
                    id: ids[2],
                    uuid: 0x2A38,
                    properties: 0x02,
                    permissions: 1,
                    value: [1]
                ),
                LocalCharacteristic(
                    id: ids[3],
                    uuid: 0x2A39,
                    properties: 0x102,
                    permissions: 4,
                    descriptors: [
                        LocalDescriptor(uuid: 0x2901, value: [0x4D, 0x61, 0x69, 0x6C]),
                        LocalDescriptor(uuid: 0x2904, value: [4, 0]),
                    ]
                ),
            ]
        )
        #expect(published.last == expected)
        #expect(secret.service === app.local)
        #expect(secret.descriptors?.first?.characteristic === secret)
        #expect(secret.descriptors?.first?.value as? String == "Mail")
    }

    @Test("behaviour 7.2: a published service is immutable")
    func publishedServicesAreFrozen() {
        let app = PeripheralApp.published()
        app.local.characteristics = []
        app.dynamic.properties = .read
        #expect(app.take().requests.isEmpty)
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        #expect(app.take().calls == ["subscribed true"])
    }

    @Test("behaviour 7.3: a fixed value makes a characteristic read-only")
    func aValueMakesItReadOnly() {
        let app = PeripheralApp.poweredOn()
        app.local.characteristics = [
            CBMutableCharacteristic(type: CBUUID(string: "2A00"), properties: [], value: Data(), permissions: [])
        ]
        app.manager.add(app.local)
        guard case .peripheral(.addService(let sent)) = app.take().requests.first else {
            Issue.record("nothing sent"); return
        }
        #expect(sent.characteristics[0].properties == 0x02)
        #expect(sent.characteristics[0].permissions == 0x01)
        #expect(sent.characteristics[0].value == [])
    }

    /// A value that the system serves itself keeps its permissions.
    @Test(
        "behaviour 7.3: a fixed value for trusted peers stays protected",
        arguments: [
            (.readEncryptionRequired, 4), ([.readable, .readEncryptionRequired], 5),
        ] as [(CBAttributePermissions, UInt8)]
    )
    func aValueForTrustedPeersStaysForThem(permissions: CBAttributePermissions, sent: UInt8) {
        let app = PeripheralApp.poweredOn()
        app.local.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "2A00"),
                properties: .read,
                value: Data([1]),
                permissions: permissions
            )
        ]
        app.manager.add(app.local)
        guard case .peripheral(.addService(let service)) = app.take().requests.first else {
            Issue.record("nothing sent"); return
        }
        #expect(service.characteristics.map(\.permissions) == [sent])
    }

    @Test("behaviour 7.7: invalid properties of a local service are dropped and logged")
    func invalidLocalPropertiesAreDroppedAndLogged() {
        let app = PeripheralApp.poweredOn()
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"),
            properties: [.read, .broadcast, .extendedProperties],
            value: nil,
            permissions: .readable
        )
        app.local.characteristics = [characteristic]
        app.manager.add(app.local)
        guard case .peripheral(.addService(let service)) = app.take().requests.first else {
            Issue.record("nothing sent"); return
        }
        #expect(service.characteristics.map(\.properties) == [0x02])
        #expect(CapturedLog.contains("API MISUSE", "\(characteristic)", "broadcast"))
    }

    @Test("behaviour 7.9: an included service that is not published is sent with an unassigned identifier")
    func includedServicesComeFirst() {
        let app = PeripheralApp.poweredOn()
        app.local.includedServices = [CBMutableService(type: CBUUID(string: "180F"), primary: false)]
        app.manager.add(app.local)
        guard case .peripheral(.addService(let sent)) = app.take().requests.first else {
            Issue.record("nothing sent"); return
        }
        // An identifier that the service has not assigned.
        #expect(sent.includedServices.count == 1)
        #expect(sent.includedServices[0] != sent.id)
    }

    @Test("behaviour 7.51: services are removed one by one or all at once")
    func removingServices() {
        let app = PeripheralApp.published()
        app.manager.remove(app.local)
        #expect(app.take().requests == [.removeService(app.serviceID)])
        app.manager.add(app.local)
        app.take()
        app.manager.removeAllServices()
        #expect(app.take().requests == [.removeAllServices])
        #expect(!app.manager.updateValue(Data(), for: app.dynamic, onSubscribedCentrals: nil))
    }

    // MARK: Advertising

    @Test("behaviour 7.15: only the name and services are advertised")
    func onlyNameAndServicesAreAdvertised() {
        let app = PeripheralApp.poweredOn()
        app.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Heart", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
            CBAdvertisementDataTxPowerLevelKey: 4, "kUnknown\(app.central.identifier)": 1,
        ])
        app.manager.startAdvertising(nil)
        // behaviour 7.21: a local name that is no string is ignored.
        app.manager.startAdvertising([CBAdvertisementDataLocalNameKey: 7])
        #expect(
            app.take().requests == [
                .startAdvertising(AdvertisingRequest(localName: "Heart", services: [0x180D])),
                .startAdvertising(AdvertisingRequest()), .startAdvertising(AdvertisingRequest()),
            ]
        )
        #expect(CapturedLog.contains("kUnknown\(app.central.identifier)", CBAdvertisementDataTxPowerLevelKey))
    }

    @Test("behaviours 7.16, 7.17: isAdvertising follows the service")
    func isAdvertisingFollowsTheService() {
        let app = PeripheralApp.poweredOn()
        app.manager.startAdvertising(nil)
        #expect(!app.manager.isAdvertising)
        app.service.deliver(.advertisingStarted(nil))
        #expect(app.manager.isAdvertising)
        app.service.deliver(.advertisingStarted(ServiceError(.alreadyAdvertising)))
        #expect(app.manager.isAdvertising)
        #expect(app.take().calls == ["advertising", "advertising!"])
        #expect((app.lastError as? CBError)?.code == .alreadyAdvertising)
    }

    @Test("behaviour 7.27: stopping advertising has no callback")
    func stopHasNoCallback() {
        let app = PeripheralApp.poweredOn()
        app.manager.startAdvertising(nil)
        app.manager.stopAdvertising()
        // The report of the start arrives after the stop, and is ignored.
        app.service.deliver(.advertisingStarted(nil))
        #expect(!app.manager.isAdvertising)
        #expect(app.take().requests == [.startAdvertising(AdvertisingRequest()), .stopAdvertising])
    }

    // MARK: Requests

    @Test("behaviour 7.31: the app answers reads")
    func readsAreAnsweredByTheApp() {
        let app = PeripheralApp.published()
        app.service.deliver(
            .readRequested(transaction: 7, app.central, characteristic: app.characteristicID, offset: 2)
        )
        #expect(app.take().calls == ["read"])
        let request = app.requests[0]
        #expect(request.characteristic === app.dynamic)
        #expect(request.offset == 2)
        #expect(request.value == nil)
        #expect(request.central.identifier == app.central.identifier)
        request.value = Data([9, 8])
        app.manager.respond(to: request, withResult: .success)
        #expect(app.take().requests == [.respond(transaction: 7, status: .success, value: [9, 8])])
    }

    @Test(arguments: [(7, 7), (0x80, 0x80), (0xFF, 0xFF), (0x1234, 0x0E), (-1, 0x0E)] as [(Int, UInt8)])
    func refusalsAreSentAsTheyAre(raw: Int, status: UInt8) throws {
        let code = try #require(CBATTError.Code(rawValue: raw))
        let app = PeripheralApp.published()
        app.service.deliver(
            .readRequested(transaction: 7, app.central, characteristic: app.characteristicID, offset: 0)
        )
        app.requests[0].value = Data([1])
        app.manager.respond(to: app.requests[0], withResult: code)
        #expect(app.take().requests == [.respond(transaction: 7, status: ATTStatus(rawValue: status), value: nil)])
    }

    @Test("behaviour 7.33: a request is answered once")
    func oneAnswerForEachRequest() {
        let app = PeripheralApp.published()
        app.service.deliver(
            .readRequested(transaction: 7, app.central, characteristic: app.characteristicID, offset: 0)
        )
        app.manager.respond(to: app.requests[0], withResult: .readNotPermitted)
        app.take()
        app.manager.respond(to: app.requests[0], withResult: .success)
        #expect(app.take().requests.isEmpty)
        #expect(CapturedLog.contains("API MISUSE", app.central.identifier.uuidString, "already been answered"))
    }

    @Test("behaviours 7.34, 7.35: a batch of writes is answered once")
    func aBatchOfWritesIsAnsweredOnce() {
        let app = PeripheralApp.published()
        let writes = [0, 18].map { WriteRequest(characteristic: app.characteristicID, offset: $0, value: [UInt8($0)]) }
        app.service.deliver(.writeRequested(transaction: 8, app.central, writes, needsResponse: true))
        #expect(app.calls == ["write 2"])
        #expect(app.requests.map(\.offset) == [0, 18])
        #expect(app.requests.map(\.value) == [Data([0]), Data([18])])
        app.take()
        app.manager.respond(to: app.requests[0], withResult: .success)
        app.manager.respond(to: app.requests[1], withResult: .success)
        #expect(app.take().requests == [.respond(transaction: 8, status: .success, value: nil)])
    }

    @Test("behaviour 7.36: write commands are not answered")
    func writeCommandsAreNotAnswered() {
        let app = PeripheralApp.published()
        let write = WriteRequest(characteristic: app.characteristicID, offset: 0, value: [1])
        app.service.deliver(.writeRequested(transaction: 8, app.central, [write], needsResponse: false))
        app.manager.respond(to: app.requests[0], withResult: .success)
        #expect(app.take().requests.isEmpty)
    }

    @Test("behaviour 7.37: requests that the app drops are logged")
    func requestsThatAreDroppedAreLogged() {
        final class Silent: NSObject, CBPeripheralManagerDelegate {
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
            func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {}
        }
        let app = PeripheralApp.published()
        let silent = Silent()
        app.manager.delegate = silent
        app.service.deliver(
            .readRequested(transaction: 7, app.central, characteristic: app.characteristicID, offset: 0)
        )
        #expect(app.take().requests.isEmpty)
        #expect(CapturedLog.contains("API MISUSE", "released without respond"))
    }

    @Test("behaviour 7.37: requests that the app drops outside of a callback are reported to its own service")
    func requestsThatAreDroppedLaterAreReported() {
        let app = PeripheralApp.published()
        let write = WriteRequest(characteristic: app.characteristicID, offset: 0, value: [1])
        app.service.deliver(.writeRequested(transaction: 7, app.central, [write], needsResponse: true))
        app.service.deliver(.centralChanged(app.central))
        #expect(app.service.misuses == [])
        app.requests = []
        #expect(app.service.misuses.map { $0.contains("released without respond") } == [true])
        app.service.deliver(
            .readRequested(transaction: 8, app.central, characteristic: app.characteristicID, offset: 0)
        )
        app.requests = []
        #expect(app.service.misuses.count == 2)
    }

    @Test func requestsThatNobodyHandlesAreRefused() {
        final class Minimal: NSObject, CBPeripheralManagerDelegate {
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
        }
        let app = PeripheralApp.published()
        let minimal = Minimal()
        app.manager.delegate = minimal
        let known = WriteRequest(characteristic: app.characteristicID, offset: 0, value: [1])
        let unknown = WriteRequest(characteristic: LocalAttributeID(99), offset: 0, value: [1])
        app.service.deliver(
            .readRequested(transaction: 1, app.central, characteristic: app.characteristicID, offset: 0)
        )
        app.service.deliver(.writeRequested(transaction: 2, app.central, [known], needsResponse: true))
        app.service.deliver(.writeRequested(transaction: 3, app.central, [known, unknown], needsResponse: true))
        app.service.deliver(.writeRequested(transaction: 4, app.central, [unknown], needsResponse: false))
        app.service.deliver(
            .readRequested(transaction: 5, app.central, characteristic: LocalAttributeID(99), offset: 0)
        )
        app.manager.delegate = nil
        app.service.deliver(
            .readRequested(transaction: 6, app.central, characteristic: app.characteristicID, offset: 0)
        )
        let statuses: [UInt64: UInt8] = [1: 6, 2: 6, 3: 14, 5: 14, 6: 14]
        #expect(
            app.take().requests
                == statuses.sorted { $0.key < $1.key }.map {
                    .respond(transaction: $0.key, status: ATTStatus(rawValue: $0.value), value: nil)
                }
        )
    }

    // MARK: Notifying

    @Test("behaviour 7.40: the subscribers of a characteristic are those that the service reports")
    func subscribersOfACharacteristic() {
        let app = PeripheralApp.published()
        #expect(app.dynamic.subscribedCentrals == [])
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        let central = app.centrals[0]
        #expect(app.dynamic.subscribedCentrals == [central])
        // A repeated event adds no second subscription.
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        #expect(app.dynamic.subscribedCentrals == [central])
        #expect(app.centrals == [central, central])
        #expect(central.maximumUpdateValueLength == 20)
        #expect(central.description.contains("identifier = \(app.central.identifier.uuidString), MTU = 23>"))
        app.service.deliver(.centralChanged(CentralInfo(identifier: app.central.identifier, maximumUpdateLength: 182)))
        #expect(central.maximumUpdateValueLength == 182)
        app.service.deliver(.unsubscribed(app.central, characteristic: app.characteristicID))
        #expect(app.dynamic.subscribedCentrals == [])
        // The same central is represented by the same object.
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        #expect(app.centrals[2] === central)
        #expect(app.take().calls == ["subscribed true", "subscribed true", "unsubscribed true", "subscribed true"])
    }

    @Test("behaviour 7.42: values go to all subscribers or to selected ones")
    func valuesToAllOrToSome() {
        let app = PeripheralApp.published()
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        #expect(app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil))
        #expect(app.manager.updateValue(Data([2]), for: app.dynamic, onSubscribedCentrals: app.centrals))
        #expect(
            app.take().requests == [
                .updateValue(characteristic: app.characteristicID, value: [1], centrals: nil),
                .updateValue(characteristic: app.characteristicID, value: [2], centrals: [app.central.identifier]),
            ]
        )
    }

    @Test("behaviour 7.43: updates wait for credits, and the app gets a callback")
    func updatesWaitForRoom() {
        let app = PeripheralApp.published()
        for _ in 0..<ServiceLimits.valueUpdates {
            #expect(app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil))
        }
        // No update has been refused so far, so no callback is due.
        app.service.deliver(.updateCreditsReturned(count: 1))
        #expect(app.take().calls.isEmpty)
        #expect(app.manager.updateValue(Data([1]), for: app.dynamic, onSubscribedCentrals: nil))
        #expect(!app.manager.updateValue(Data([2]), for: app.dynamic, onSubscribedCentrals: nil))
        #expect(!app.manager.updateValue(Data([2]), for: app.dynamic, onSubscribedCentrals: nil))
        #expect(app.take().requests.count == 1)
        app.service.deliver(.updateCreditsReturned(count: 1))
        app.service.deliver(.updateCreditsReturned(count: .max))
        #expect(app.take().calls == ["ready"])
    }

    @Test(
        "behaviour 7.47: the latency that an app requests is sent to the service",
        arguments: [(CBPeripheralManagerConnectionLatency.low, 0), (.medium, 1), (.high, 2)]
    )
    func theLatencyIsAskedFor(latency: CBPeripheralManagerConnectionLatency, value: Int) {
        let app = PeripheralApp.published()
        app.service.deliver(.subscribed(app.central, characteristic: app.characteristicID))
        app.manager.setDesiredConnectionLatency(latency, for: app.centrals[0])
        #expect(
            app.take().requests == [.setDesiredConnectionLatency(central: app.central.identifier, latency: value)]
        )
    }

    @Test("behaviour 13.6: releasing a peripheral manager closes its connection to the service")
    func theManagersEndClosesIt() {
        let service = StandInService.logged()
        var manager: CBPeripheralManager? = service.run { CBPeripheralManager() }
        #expect(manager?.isAdvertising == false)
        manager = nil
        #expect(service.closed == service.opened)
    }
}
