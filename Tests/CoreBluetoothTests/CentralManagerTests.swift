import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

@Suite struct CentralManagerTests {
    // MARK: State

    @Test("behaviour 1.1: the state of a new manager is unknown until the service reports it")
    func newManagerIsUnknownUntilTheServiceSpeaks() {
        let app = CentralApp()
        #expect(app.manager.state == .unknown)
        #expect(app.calls.isEmpty)
        app.service.deliver(.stateChanged(.poweredOn))
        #expect(app.calls == ["state 5"])
        #expect(app.manager.state == .poweredOn)
    }

    @Test(
        "behaviour 1.3: the states of a manager have Apple's raw values",
        arguments: [
            (CBManagerState.unknown, 0), (.resetting, 1), (.unsupported, 2), (.unauthorized, 3), (.poweredOff, 4),
            (.poweredOn, 5),
        ]
    )
    func rawValuesOfStates(state: CBManagerState, value: Int) throws {
        #expect(state.rawValue == value)
        let app = CentralApp()
        app.service.deliver(.stateChanged(try #require(ManagerState(rawValue: value))))
        #expect(app.manager.state == state)
    }

    @Test("behaviours 1.6, 1.15: commands of a central without power are ignored and logged")
    func commandsWithoutPowerAreIgnoredAndLogged() {
        let app = CentralApp.connected()
        app.service.deliver(.stateChanged(.poweredOff))
        app.take()
        app.manager.scanForPeripherals(withServices: nil)
        app.manager.stopScan()
        app.manager.connect(app.peripheral)
        app.manager.cancelPeripheralConnection(app.peripheral)
        #expect(app.take() == ([], []))
        #expect(!app.manager.isScanning)
        #expect(CapturedLog.contains("API MISUSE", app.manager.description, "powered on state"))
        #expect(CapturedLog.contains("API MISUSE", app.manager.description, "stopScan"))
    }

    @Test("behaviour 1.2: a delegate needs to implement only the method for the state")
    func aDelegateNeedsOneMethod() {
        final class Least: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate, CBPeripheralDelegate {
            var states: [CBManagerState] = []
            func centralManagerDidUpdateState(_ central: CBCentralManager) { states.append(central.state) }
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { states.append(peripheral.state) }
        }
        let least = Least()
        let app = CentralApp()
        app.explore()
        app.manager.delegate = least
        app.peripheral.delegate = least
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([1])))
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        app.service.deliver(.stateChanged(.poweredOff))
        let other = PeripheralApp.published()
        other.manager.delegate = least
        other.service.deliver(.stateChanged(.poweredOff))
        #expect(least.states == [.poweredOff, .poweredOff])
        #expect(app.calls.isEmpty)
        #expect(other.calls.isEmpty)
        // Without such a delegate method requests are refused, so that the central does not wait.
        other.powerOn()
        let read = Event.readRequested(transaction: 5, other.central, characteristic: other.characteristicID, offset: 0)
        other.service.deliver(read)
        let refusal = ATTStatus(rawValue: UInt8(CBATTError.Code.requestNotSupported.rawValue))
        #expect(other.take().requests == [.respond(transaction: 5, status: refusal, value: nil)])
    }

    @Test("behaviour 1.8: retrieving peripherals without power returns none")
    func retrievingWithoutPowerIsEmpty() {
        let app = CentralApp()
        app.service.answer(peripherals: [PeerInfo(identifier: app.peer)])
        #expect(app.manager.retrievePeripherals(withIdentifiers: [app.peer]).isEmpty)
        #expect(app.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")]).isEmpty)
        #expect(app.service.queries.isEmpty)
    }

    @Test("behaviours 1.9, 1.11: losing power ends everything without disconnection callbacks")
    func powerOffEndsAllWithoutAWord() {
        let app = CentralApp()
        app.explore()
        app.manager.scanForPeripherals(withServices: nil)
        app.take()
        // The objects are up to date when the delegate is called.
        var seen: [String] = []
        app.onCall = { [unowned app] _ in
            seen.append("\(app.manager.isScanning) \(app.peripheral.state.rawValue) \(app.peripheral.services == nil)")
        }
        app.service.deliver(.stateChanged(.poweredOff))
        #expect(app.take().calls == ["state 4"])
        #expect(seen == ["false 0 true"])
        #expect(!app.manager.isScanning)
        #expect(app.peripheral.state == .disconnected)
        #expect(app.peripheral.services == nil)
    }

    @Test(
        "behaviour 1.10: peripherals survive the loss of power, but nothing below them does",
        arguments: [(ManagerState.poweredOff, true), (.unauthorized, false), (.resetting, false)]
    )
    func peripheralsSurvivePowerOffButNothingBelow(state: ManagerState, survive: Bool) {
        let app = CentralApp.connected()
        let old = app.peripheral
        app.service.deliver(.stateChanged(state))
        app.powerOn()
        app.manager.connect(app.peripheral)
        #expect((old?.state == .connecting) == survive)
        #expect(app.take().requests.isEmpty == !survive)
        app.discover()
        #expect((app.peripheral === old) == survive)
    }

    @Test("behaviour 1.16: the power alert option reaches the service")
    func powerAlertOption() {
        let service = StandInService.logged()
        let keys = [CBCentralManagerOptionShowPowerAlertKey: false as Any]
        let managers = service.run {
            [
                CBCentralManager(), CBCentralManager(delegate: nil, queue: nil, options: keys), CBPeripheralManager(),
                CBPeripheralManager(
                    delegate: nil,
                    queue: nil,
                    options: [CBPeripheralManagerOptionShowPowerAlertKey: 1]
                ),
            ]
        }
        #expect(service.options.map(\.showsPowerAlert) == [true, false, false, true])
        #expect(managers.count == 4)
        #expect(service.queue?.label == DispatchQueue.main.label)
    }

    @Test(
        "behaviour 1.20: the authorization can be read without a manager, and equals the service's",
        arguments: [
            (AppPermission.notDetermined, CBManagerAuthorization.notDetermined), (.restricted, .restricted),
            (.denied, .denied), (.allowedAlways, .allowedAlways),
        ]
    )
    func authorizationNeedsNoManager(permission: AppPermission, authorization: CBManagerAuthorization) {
        let service = StandInService.logged()
        service.answer(SystemInfo(hasExtendedScanAndConnect: false, permission: permission))
        service.run {
            #expect(CBManager.authorization == authorization)
            #expect(CBCentralManager.authorization == authorization)
            #expect(CBPeripheralManager.authorizationStatus().rawValue == authorization.rawValue)
        }
        #expect(service.opened.isEmpty)
        // Without a service there is no permission to deny.
        #expect(CBManager.authorization == .allowedAlways)
    }

    @Test("behaviour 1.25: no unsupported feature is claimed")
    func noFeatureIsClaimedThatIsNotThere() {
        #expect(!CBCentralManager.supports(.extendedScanAndConnect))
        #expect(!CBCentralManager.supports(.channelSounding))
        #expect(CBCentralManager.supports([]))
        let service = StandInService.logged()
        for isThere in [false, true] {
            service.answer(SystemInfo(hasExtendedScanAndConnect: isThere, permission: .allowedAlways))
            service.run {
                #expect(CBCentralManager.supports(.extendedScanAndConnect) == isThere)
                #expect(!CBCentralManager.supports([.extendedScanAndConnect, .channelSounding]))
            }
        }
    }

    // MARK: Scanning

    @Test("behaviour 2.3: options may be a Bool, an Int or an NSNumber")
    func optionsTakeBoolIntAndNumber() {
        let app = CentralApp.poweredOn()
        for value: Any in [true, 1, NSNumber(value: true), NSNumber(value: 1)] {
            let options = [CBCentralManagerScanOptionAllowDuplicatesKey: value]
            app.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")], options: options)
            #expect(app.take().requests == [.startScan(ScanRequest(services: [0x180D], allowsDuplicates: true))])
        }
        for value: Any in [false, 0, NSNumber(value: false), "yes"] {
            let options = [CBCentralManagerScanOptionAllowDuplicatesKey: value]
            app.manager.scanForPeripherals(withServices: nil, options: options)
            #expect(app.take().requests == [.startScan(ScanRequest())])
        }
    }

    @Test("behaviour 2.7: isScanning follows the calls of the app")
    func isScanningFollowsTheCalls() {
        let app = CentralApp.poweredOn()
        #expect(!app.manager.isScanning)
        app.manager.scanForPeripherals(withServices: nil)
        #expect(app.manager.isScanning)
        app.manager.stopScan()
        #expect(!app.manager.isScanning)
        #expect(app.take().requests == [.startScan(ScanRequest()), .stopScan])
        // A discovery in flight is dropped after the scan has stopped.
        app.service.deliver(.discovered(PeerInfo(identifier: app.peer), Advertisement(), rssi: -1))
        #expect(app.take().calls.isEmpty)
    }

    @Test("behaviour 2.8: a scan can request solicited services")
    func solicitedServices() {
        let app = CentralApp.poweredOn()
        let options = [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "1805")]]
        app.manager.scanForPeripherals(withServices: nil, options: options)
        #expect(app.take().requests == [.startScan(ScanRequest(solicitedServices: [0x1805]))])
    }

    @Test("behaviour 2.9: an advertisement uses Apple's keys")
    func valuesOfTheAdvertisement() {
        let app = CentralApp.poweredOn()
        var advertisement = Advertisement()
        app.discover(advertisement)
        let receiving = ["kCBAdvDataRxPrimaryPHY", "kCBAdvDataRxSecondaryPHY"]
        #expect(Set(app.advertisementData.keys) == Set([CBAdvertisementDataIsConnectable] + receiving))
        advertisement.localName = "Heart"
        advertisement.manufacturerData = [0x4C, 0x00, 1]
        advertisement.serviceData = [0x180D: [7]]
        advertisement.serviceUUIDs = [0x180D]
        advertisement.overflowServiceUUIDs = [0x180F]
        advertisement.solicitedServiceUUIDs = [0x1805]
        advertisement.txPowerLevel = -4
        advertisement.isConnectable = true
        app.discover(advertisement, rssi: -61)
        let data = app.advertisementData
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Heart")
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 1]))
        let serviceData = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        #expect(serviceData?[CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB")] == Data([7]))
        #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
        #expect(data[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180F")])
        #expect(data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "1805")])
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == -4)
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -4)
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
        #expect((data[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue == true)
        #expect(app.calls.last == "didDiscover -61")
    }

    @Test("behaviour 2.11: the time and PHY of a packet use undocumented keys")
    func keysThatAreNotDocumented() {
        let app = CentralApp.discovering()
        #expect(app.advertisementData["kCBAdvDataRxPrimaryPHY"] as? NSNumber == 1)
        #expect(app.advertisementData["kCBAdvDataRxSecondaryPHY"] as? Int == 0)
        #expect(app.advertisementData["kCBAdvDataTimestamp"] == nil)
        var advertisement = Advertisement()
        (advertisement.primaryPHY, advertisement.secondaryPHY, advertisement.timestamp) = (3, 2, 700_000_000.5)
        app.discover(advertisement)
        #expect(app.advertisementData["kCBAdvDataRxPrimaryPHY"] as? Int == 3)
        #expect(app.advertisementData["kCBAdvDataRxSecondaryPHY"] as? Int == 2)
        #expect(app.advertisementData["kCBAdvDataTimestamp"] as? NSNumber == 700_000_000.5)
    }

    @Test("behaviours 2.13, 2.22: a discovered device keeps its identifier, whatever its signal strength")
    func aDeviceThatIsHeardHasItsIdentifier() {
        let app = CentralApp.poweredOn()
        app.discover(rssi: 127)
        #expect(app.take().calls == ["didDiscover 127"])
        #expect(app.peripheral.identifier == app.peer)
        #expect(app.peripheral.state == .disconnected)
    }

    @Test("behaviour 2.20: peripherals that the app does not keep are forgotten")
    func peripheralsThatAreNotKeptAreForgotten() {
        let app = CentralApp()
        app.keepsPeripherals = false
        app.powerOn()
        app.discover()
        #expect(app.take().requests == [.startScan(ScanRequest()), .forget(peer: app.peer)])
    }

    @Test("behaviour 2.21: a device is always the same object")
    func oneObjectForOneDevice() {
        let app = CentralApp.discovering()
        let first = app.peripheral
        app.discover()
        #expect(app.peripheral === first)
        app.service.answer(peripherals: [PeerInfo(identifier: app.peer)])
        #expect(app.manager.retrievePeripherals(withIdentifiers: [app.peer]).first === first)
        #expect(app.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")]).first === first)
        #expect(
            app.service.queries == [.peripherals(identifiers: [app.peer]), .connectedPeripherals(services: [0x180D])]
        )
        #expect(first?.copy() as? CBPeripheral === first)
    }

    @Test("behaviours 2.23, 2.24: a peripheral has its advertised name until its device name is known")
    func namesOfAPeripheral() {
        let app = CentralApp.discovering()
        #expect(app.peripheral.name == nil)
        app.discover(name: "advertised")
        #expect(app.peripheral.name == "advertised")
        app.connect()
        app.service.deliver(.nameChanged(peer: app.peer, name: "GAP"))
        #expect(app.take().calls == ["name GAP"])
    }

    @Test("behaviour 11.7: retrieving connected peripherals for no services returns none")
    func noServicesMeansNone() {
        let app = CentralApp.poweredOn()
        app.service.answer(peripherals: [PeerInfo(identifier: app.peer)])
        #expect(app.manager.retrieveConnectedPeripherals(withServices: []).isEmpty)
    }

    // MARK: Queue and lifetime

    @Test("behaviour 13.1: managers created in a callback belong to the same app")
    func managersMadeInACallbackBelongToTheSameApp() {
        final class Parent: NSObject, CBCentralManagerDelegate {
            var child: CBPeripheralManager?
            func centralManagerDidUpdateState(_ central: CBCentralManager) { child = CBPeripheralManager() }
        }
        let service = StandInService.logged()
        let parent = Parent()
        let manager = service.run { CBCentralManager(delegate: parent, queue: DispatchQueue(label: "app")) }
        service.deliver(.stateChanged(.poweredOn))
        #expect(service.opened.count == 2)
        #expect(manager.delegate === parent)
    }

    @Test("behaviour 13.5: a manager does not retain its delegate")
    func delegatesAreWeak() {
        let service = StandInService.logged()
        var app: CentralApp? = CentralApp()
        let manager = service.run { CBCentralManager(delegate: app, queue: DispatchQueue(label: "app")) }
        #expect(manager.delegate != nil)
        app = nil
        #expect(manager.delegate == nil)
    }

    @Test("behaviour 13.6: releasing a manager ends its work")
    func theManagersEndIsTheEndOfItsWork() {
        let service = StandInService.logged()
        let queue = DispatchQueue(label: "app")
        let peer = UUID()
        var manager: CBCentralManager? = service.run { CBCentralManager(delegate: nil, queue: queue) }
        service.deliver(.stateChanged(.poweredOn))
        service.answer(peripherals: [PeerInfo(identifier: peer)])
        var peripheral = manager?.retrievePeripherals(withIdentifiers: [peer]).first
        peripheral.map { manager?.connect($0) }
        service.deliver(.connected(PeerInfo(identifier: peer), maximumWriteWithoutResponse: 20))
        #expect(peripheral?.state == .connected)
        manager = nil
        #expect(service.closed == service.opened)
        #expect(peripheral?.state == .disconnected)
        _ = service.takeRequests()
        peripheral = nil
        #expect(service.takeRequests().isEmpty)
    }

    @Test("behaviour 1.24: each manager gets each state, and has its own scan and its own objects")
    func managersHaveTheirOwnScanAndObjects() {
        let app = CentralApp.poweredOn()
        app.manager.scanForPeripherals(withServices: nil)
        let second = CentralManagerRecord()
        let other = app.service.run { CBCentralManager(delegate: second, queue: app.queue) }
        let ids = app.service.opened
        for id in ids { app.service.deliver(.stateChanged(.poweredOn), to: id) }
        #expect(app.calls == ["state 5"])
        #expect(second.states == [.poweredOn])
        #expect(app.manager.isScanning)
        #expect(!other.isScanning)
        other.scanForPeripherals(withServices: nil)
        for id in ids {
            app.service.deliver(.discovered(PeerInfo(identifier: app.peer), Advertisement(), rssi: -1), to: id)
        }
        let found = second.found
        #expect(found?.identifier == app.peripheral.identifier)
        #expect(found !== app.peripheral)
        app.manager.stopScan()
        #expect(other.isScanning)
    }

    @Test("behaviour 3.8: a peripheral of another manager is rejected")
    func managersOfOneAppAreIndependent() {
        let app = CentralApp.connected()
        let other = app.service.run { CBCentralManager(delegate: nil, queue: app.queue) }
        app.service.deliver(.stateChanged(.poweredOn))
        other.cancelPeripheralConnection(app.peripheral)
        other.connect(app.peripheral)
        #expect(app.take().requests.isEmpty)
        #expect(app.peripheral.state == .connected)
        #expect(CapturedLog.contains("API MISUSE", app.peer.uuidString, "is not a peripheral of"))
    }
}

/// The callbacks of a central manager's delegate that are not about peripherals.
private final class CentralManagerRecord: NSObject, CBCentralManagerDelegate {
    var states: [CBManagerState] = []
    var found: CBPeripheral?

    func centralManagerDidUpdateState(_ central: CBCentralManager) { states.append(central.state) }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        found = peripheral
    }
}
