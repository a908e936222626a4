import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

@Suite struct CentralManagerConnectionTests {
    @Test("behaviour 3.4: a peripheral passes through the states of a connection")
    func statesOfAConnection() {
        let app = CentralApp.discovering()
        #expect(app.peripheral.state == .disconnected)
        app.manager.connect(app.peripheral)
        #expect(app.peripheral.state == .connecting)
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        #expect(app.peripheral.state == .connected)
        app.manager.cancelPeripheralConnection(app.peripheral)
        #expect(app.peripheral.state == .disconnecting)
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(app.peripheral.state == .disconnected)
        #expect(app.take().calls == ["didDiscover -50", "didConnect", "didDisconnect"])
        #expect(
            [CBPeripheralState.disconnected, .connecting, .connected, .disconnecting].map(\.rawValue) == [0, 1, 2, 3]
        )
    }

    /// The delegate finds the objects in their new state: it may reconnect or inspect what is left.
    @Test("behaviours 3.4, 3.14: the objects are up to date when the delegate is called")
    func theObjectsAreUpToDateWhenTheDelegateIsCalled() {
        let (app, characteristic) = CentralApp.exploring()
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, nil))
        app.take()
        var seen: [String] = []
        let peripheral = app.peripheral!
        app.onCall = { call in
            let services = peripheral.services?.count ?? -1
            let writes = peripheral.maximumWriteValueLength(for: .withoutResponse)
            seen.append("\(call) \(peripheral.state.rawValue) \(services) \(characteristic.isNotifying) \(writes)")
        }
        app.service.deliver(.disconnected(peer: app.peer, ServiceError(.connectionTimeout), isReconnecting: false))
        app.manager.connect(peripheral)
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        app.service.deliver(.disconnected(peer: app.peer, ServiceError(.connectionTimeout), isReconnecting: true))
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        app.manager.connect(peripheral)
        app.service.deliver(.connectionFailed(peer: app.peer, ServiceError(.connectionFailed)))
        #expect(
            seen == [
                "didDisconnect 0 -1 false 0", "didConnect 2 -1 false 20", "didDisconnect 1 -1 false 0",
                "didConnect 2 -1 false 20", "didDisconnect 0 -1 false 0", "didFailToConnect 0 -1 false 0",
            ]
        )
    }

    @Test func connectOptionsReachTheService() {
        let app = CentralApp.discovering()
        app.take()
        app.manager.connect(
            app.peripheral,
            options: [
                CBConnectPeripheralOptionNotifyOnConnectionKey: true,
                CBConnectPeripheralOptionNotifyOnDisconnectionKey: 1,
                CBConnectPeripheralOptionNotifyOnNotificationKey: NSNumber(value: true),
                CBConnectPeripheralOptionStartDelayKey: NSNumber(value: 2.7),
                CBConnectPeripheralOptionEnableAutoReconnect: true,
            ]
        )
        var options = ConnectOptions()
        options.notifiesOnConnection = true
        options.notifiesOnDisconnection = true
        options.notifiesOnNotification = true
        options.startDelay = 2
        options.reconnectsAutomatically = true
        #expect(app.take().requests == [.connect(peer: app.peer, options: options)])
    }

    @Test(arguments: [("3", 3), ("-1", 0), ("nan", 0), ("1e300", 0)])
    func startDelayTakesAnyNumber(text: String, expected: Int) {
        let app = CentralApp.discovering()
        app.take()
        app.manager.connect(app.peripheral, options: [CBConnectPeripheralOptionStartDelayKey: Double(text) as Any])
        guard case .central(.peer(_, .connect(let options))) = app.take().requests.first else {
            Issue.record("no request"); return
        }
        #expect(options.startDelay == expected)
    }

    @Test("behaviour 3.2: a failed connection is reported with its error")
    func failureToConnect() {
        let app = CentralApp.discovering()
        app.manager.connect(app.peripheral)
        app.take()
        app.service.deliver(.connectionFailed(peer: app.peer, ServiceError(.connectionFailed, reason: "no answer")))
        #expect(app.take().calls == ["didFailToConnect!"])
        #expect((app.lastError as? CBError)?.code == .connectionFailed)
        #expect((app.lastError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String == "no answer")
        #expect(app.peripheral.state == .disconnected)
    }

    @Test("behaviour 3.5: releasing a peripheral cancels its connection")
    func lettingGoOfAPeripheralCancelsItsConnection() {
        let app = CentralApp.connected()
        app.peripheral = nil
        #expect(app.take().requests == [.forget(peer: app.peer)])
        #expect(CapturedLog.contains("API MISUSE", "Cancelling connection for unused peripheral", app.peer.uuidString))
        // Events in flight for the peripheral are dropped.
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([1])))
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(app.take().calls.isEmpty)
    }

    @Test("behaviour 3.6: cancelling a connection ends it without an error")
    func cancelEndsWithoutAnError() {
        let app = CentralApp.connected()
        app.manager.cancelPeripheralConnection(app.peripheral)
        app.manager.cancelPeripheralConnection(app.peripheral)
        #expect(app.take().requests == [.cancelConnection(peer: app.peer)])
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(app.take().calls == ["didDisconnect"])
        app.manager.cancelPeripheralConnection(app.peripheral)
        #expect(app.take().requests.isEmpty)
    }

    @Test("behaviour 3.7: a pending connection can be cancelled")
    func cancelOfAPendingConnection() {
        let app = CentralApp.discovering()
        app.manager.connect(app.peripheral)
        app.manager.cancelPeripheralConnection(app.peripheral)
        // The connection completed while the cancellation was in flight.
        app.take()
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        #expect(app.take().calls.isEmpty)
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(app.take().calls == ["didDisconnect"])
        #expect(app.peripheral.state == .disconnected)
    }

    @Test func connectRightAfterCancelOvertakesTheOldEnd() {
        let app = CentralApp.connected()
        app.manager.cancelPeripheralConnection(app.peripheral)
        app.manager.connect(app.peripheral)
        app.take()
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false))
        #expect(app.peripheral.state == .connecting)
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        #expect(app.take().calls == ["didDisconnect", "didConnect"])
        #expect(app.peripheral.state == .connected)
    }

    @Test("behaviour 3.3: connecting again to a connected peripheral does nothing")
    func repeatingConnectIsOfNoUse() {
        let app = CentralApp.connected()
        app.manager.connect(app.peripheral)
        #expect(app.take().requests.isEmpty)
        #expect(app.peripheral.state == .connected)
        app.service.deliver(.disconnected(peer: app.peer, ServiceError(.connectionTimeout), isReconnecting: false))
        #expect(app.peripheral.state == .disconnected)
        app.manager.connect(app.peripheral)
        app.manager.connect(app.peripheral)
        #expect(app.take().requests.count == 1)
    }

    /// Requests and events cross in random ways. In the end the app's state matches the service's, and connections
    /// ended as often as they began.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func requestsAndEventsMayCross(seed: UInt64) {
        var random = RandomNumbers(state: seed)
        let app = CentralApp.discovering()
        app.take()
        let peripheral = app.peripheral!
        var service = LinkModel()
        for step in 0..<600 {
            // In the last steps, everything in flight is delivered.
            switch step < 500 ? random.next() % 8 : 4 + random.next() % 2 {
            case 0, 1: app.manager.connect(peripheral)
            case 2: app.manager.cancelPeripheralConnection(peripheral)
            case 3: service.somethingHappens(random.next() % 4)
            case 4, 6: service.process()
            default:
                if let event = service.events.first {
                    service.events.removeFirst()
                    app.service.deliver(event.named(app.peer))
                }
            }
            service.requests += app.take().requests
        }
        while !service.requests.isEmpty { service.process() }
        for event in service.events { app.service.deliver(event.named(app.peer)) }
        #expect(peripheral.state == service.state)
    }

    @Test(
        "behaviour 3.12: a lost link has Apple's error code",
        arguments: [
            (ServiceError.CoreCode.connectionTimeout, CBError.Code.connectionTimeout),
            (.peripheralDisconnected, .peripheralDisconnected),
        ]
    )
    func lostLinks(code: ServiceError.CoreCode, shown: CBError.Code) {
        let app = CentralApp.connected()
        app.service.deliver(.disconnected(peer: app.peer, ServiceError(code), isReconnecting: false))
        #expect(app.take().calls == ["didDisconnect!"])
        #expect((app.lastError as? CBError)?.code == shown)
    }

    @Test("behaviours 3.13, 13.8: nothing follows a disconnection")
    func noEventsFollowADisconnection() {
        let app = CentralApp()
        app.explore()
        app.service.deliver(.disconnected(peer: app.peer, ServiceError(.connectionTimeout), isReconnecting: false))
        app.take()
        app.service.deliver(.valueRead(peer: app.peer, characteristic: 3, .success([1])))
        app.service.deliver(.servicesDiscovered(peer: app.peer, .success([.heartRate])))
        app.service.deliver(.writeCreditsReturned(peer: app.peer, count: 1))
        #expect(app.take().calls.isEmpty)
        #expect(app.peripheral.services == nil)
    }

    @Test("behaviour 3.14: the services of a peripheral are dropped with its connection")
    func servicesGoWithTheConnection() {
        let (app, characteristic) = CentralApp.exploring()
        app.service.deliver(.notifyStateChanged(peer: app.peer, characteristic: 3, isNotifying: true, nil))
        #expect(characteristic.isNotifying)
        app.service.deliver(.disconnected(peer: app.peer, ServiceError(.connectionTimeout), isReconnecting: false))
        #expect(app.peripheral.services == nil)
        #expect(!characteristic.isNotifying)
        #expect(characteristic.service == nil)
        app.explore()
        #expect(app.characteristic !== characteristic)
    }

    @Test("behaviour 3.17: a re-established link is reported by the long form of the callback")
    func automaticReconnection() {
        final class Long: NSObject, CBCentralManagerDelegate {
            var seen: [String] = []
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func centralManager(
                _ central: CBCentralManager,
                didDisconnectPeripheral peripheral: CBPeripheral,
                timestamp: CFAbsoluteTime,
                isReconnecting: Bool,
                error: (any Error)?
            ) {
                seen.append("\(timestamp) \(isReconnecting) \((error as? CBError)?.code == .connectionTimeout)")
            }
        }
        let app = CentralApp.connected()
        let long = Long()
        app.manager.delegate = long
        app.service.deliver(
            .disconnected(peer: app.peer, ServiceError(.connectionTimeout), isReconnecting: true, timestamp: 7)
        )
        #expect(long.seen == ["7.0 true true"])
        #expect(app.peripheral.state == .connecting)
        app.manager.delegate = app
        app.service.deliver(.connected(PeerInfo(identifier: app.peer), maximumWriteWithoutResponse: 20))
        #expect(app.take().calls == ["didConnect"])
    }

    @Test("behaviours 3.18, 15.30: only one of two disconnection callbacks is called, the short one if implemented")
    func oneOfTheTwoCallbacks() {
        class Both: NSObject, CBCentralManagerDelegate {
            var seen: [String] = []
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func centralManager(
                _ central: CBCentralManager,
                didDisconnectPeripheral peripheral: CBPeripheral,
                error: (any Error)?
            ) {
                seen.append("short")
            }
            func centralManager(
                _ central: CBCentralManager,
                didDisconnectPeripheral peripheral: CBPeripheral,
                timestamp: CFAbsoluteTime,
                isReconnecting: Bool,
                error: (any Error)?
            ) {
                seen.append("long")
            }
        }
        let app = CentralApp.connected()
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false, timestamp: 7))
        #expect(app.take().calls == ["didDisconnect"])
        let both = Both()
        app.connect()
        app.manager.delegate = both
        app.service.deliver(.disconnected(peer: app.peer, nil, isReconnecting: false, timestamp: 7))
        #expect(both.seen == ["short"])
    }
}

/// The service's side of one connection, with requests and events in flight.
private struct LinkModel {
    enum Outcome {
        case connected, failed, ended, lost, reconnecting

        func named(_ peer: UUID) -> Event {
            switch self {
            case .connected: .connected(PeerInfo(identifier: peer), maximumWriteWithoutResponse: 20)
            case .failed: .connectionFailed(peer: peer, ServiceError(.connectionFailed))
            case .ended: .disconnected(peer: peer, nil, isReconnecting: false)
            case .lost: .disconnected(peer: peer, ServiceError(.connectionTimeout), isReconnecting: false)
            case .reconnecting: .disconnected(peer: peer, ServiceError(.connectionTimeout), isReconnecting: true)
            }
        }
    }

    var state = CBPeripheralState.disconnected
    var requests: [Request] = []
    var events: [Outcome] = []

    mutating func process() {
        guard !requests.isEmpty else { return }
        switch requests.removeFirst() {
        case .central(.peer(_, .connect)) where state == .disconnected: state = .connecting
        case .central(.peer(_, .cancelConnection)) where state != .disconnected: happens(.ended, .disconnected)
        default: break
        }
    }

    mutating func somethingHappens(_ choice: UInt64) {
        switch (state, choice) {
        case (.connecting, 0): happens(.failed, .disconnected)
        case (.connecting, _): happens(.connected, .connected)
        case (.connected, 0): happens(.lost, .disconnected)
        case (.connected, 1): happens(.reconnecting, .connecting)
        default: break
        }
    }

    private mutating func happens(_ event: Outcome, _ new: CBPeripheralState) {
        events.append(event)
        state = new
    }
}

/// Reproducible random numbers (SplitMix64).
private struct RandomNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
