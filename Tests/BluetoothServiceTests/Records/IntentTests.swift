import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService

/// The intent for a manager, one request after the other (behaviour 10.15).
@Suite struct IntentTests {
    private func peer(_ number: UInt8) -> UUID { UUID([UInt8](repeating: number, count: 16)) }
    private func connect(_ number: UInt8) -> Request { .central(.peer(peer(number), .connect(ConnectOptions()))) }

    private func add(_ number: UInt32) -> Request {
        .peripheral(.addService(LocalService(id: .init(number), uuid: 0x180D, isPrimary: true, characteristics: [])))
    }

    private func scan(_ service: UInt16) -> Request { .central(.startScan(ScanRequest(services: [.init(service)]))) }

    private let advertise = Request.peripheral(.startAdvertising(AdvertisingRequest(localName: "Belt")))

    private func intent(_ requests: Request...) -> Intent { Intent(requests) }

    @Test("behaviours 2.6, 3.3, 10.15: a central wants its last scan, and each peer once")
    func centrals() {
        var intent = intent(connect(2), scan(1), connect(1), connect(2))
        #expect(intent.requests == [scan(1), connect(1), connect(2)])
        intent.apply(scan(2))
        #expect(intent.requests == [scan(2), connect(1), connect(2)])
        intent.apply(.central(.peer(peer(1), .cancelConnection)))
        intent.apply(.central(.stopScan))
        intent.apply(.central(.resetScanFilter))
        #expect(intent.requests == [connect(2)])
        intent.apply(.central(.peer(peer(2), .forget)))
        #expect(intent == Intent())
    }

    @Test("behaviour 3.3: a second request for a connection changes no option of the first")
    func secondConnection() {
        var other = ConnectOptions()
        other.startDelay = 7
        let intent = intent(connect(1), .central(.peer(peer(1), .connect(other))))
        #expect(intent.connections == [peer(1): ConnectOptions()])
    }

    @Test("behaviour 10.15: a peripheral wants each service once, in the order of publishing, and its advertisement")
    func peripherals() {
        var intent = intent(advertise, add(2), add(1), add(2), advertise)
        #expect(intent.requests == [add(2), add(1), advertise])
        intent.apply(.peripheral(.removeService(.init(7))))
        intent.apply(.peripheral(.removeService(.init(2))))
        #expect(intent.requests == [add(1), advertise])
        var silent = intent
        silent.apply(.peripheral(.stopAdvertising))
        #expect(silent.requests == [add(1)])
        intent.apply(.peripheral(.removeAllServices))
        #expect(intent.requests == [advertise])
    }

    @Test("the requests of an intent lead to the same intent")
    func requestsLeadToTheIntent() {
        let central = intent(scan(1), connect(3), connect(1), connect(2))
        let peripheral = intent(add(3), add(1), advertise)
        for intent in [central, peripheral, Intent()] { #expect(Intent(intent.requests) == intent) }
    }

    @Test("behaviours 1.4, 10.15: what a process repeats takes the place of what it wanted, and the rest is kept")
    func merged() {
        var delayed = ConnectOptions()
        delayed.startDelay = 7
        let again = Request.central(.peer(peer(1), .connect(delayed)))
        let central = intent(scan(1), connect(1), connect(2)).merged(with: intent(again, scan(2), connect(3)))
        #expect(central == intent(scan(2), again, connect(2), connect(3)))
        let peripheral = intent(add(1), add(2), advertise).merged(with: intent(add(2), add(3)))
        #expect(peripheral.requests == [add(1), add(2), add(3), advertise])
    }

    /// A manager of a role whose app had these requests when the previous system ended.
    private func recorded(_ requests: Request...) -> IntentKeeper { IntentKeeper(recorded: Intent(requests)) }

    @Test("behaviours 1.9, 1.13, 10.15: which states an intent survives that waits for the radio")
    func survives() {
        for (role, state, survives) in [
            (ManagerRole.central, ManagerState.unknown, true), (.central, .resetting, false),
            (.central, .unauthorized, false), (.central, .unsupported, false), (.central, .poweredOff, false),
            (.peripheral, .unknown, true), (.peripheral, .resetting, false), (.peripheral, .unauthorized, false),
            (.peripheral, .unsupported, false), (.peripheral, .poweredOff, true),
        ] {
            let before = recorded(role == .central ? scan(1) : add(1))
            var came = before
            came.processBegan(in: state, role)
            var (told, kept) = (before, before)
            let carriedOut = [
                told.reported(state, role, hasProcess: true), kept.reported(state, role, hasProcess: false),
            ]
            #expect(carriedOut == [false, false])
            for keeper in [came, told] {
                #expect(keeper.awaitsRadio == survives, "\(role) \(state)")
                #expect(keeper.intent == (survives ? before.intent : Intent()), "\(role) \(state)")
            }
            #expect(kept.intent == before.intent)
            #expect(kept.awaitsRadio)
        }
    }

    @Test(
        "behaviour 10.15: an intent is carried out when the radio is on: at once if there is a process, else by the system"
    )
    func carriedOut() {
        var keeper = recorded(scan(1))
        var preserved = keeper
        let byTheSystem = preserved.reported(.poweredOn, .central, hasProcess: false)
        #expect(!byTheSystem)
        #expect(preserved.awaitsRadio)
        let atOnce = keeper.reported(.poweredOn, .central, hasProcess: true)
        keeper.begins()
        #expect(atOnce)
        #expect(!keeper.awaitsRadio)
        #expect(keeper.intent.requests == [scan(1)])
        let again = keeper.reported(.poweredOn, .central, hasProcess: true)
        #expect(!again)
    }

    @Test("behaviours 1.9, 10.15: a process has to repeat what ended with the radio, and a preserved app need not")
    func stopped() {
        var keeper = IntentKeeper()
        keeper.apply(scan(1))
        var preserved = keeper
        keeper.stopped(hasProcess: true)
        preserved.stopped(hasProcess: false)
        #expect(keeper.intent == Intent())
        #expect(!keeper.awaitsRadio)
        #expect(preserved.intent.requests == [scan(1)])
        #expect(preserved.awaitsRadio)
    }

    @Test(
        "behaviours 1.4, 10.15: what a process has not repeated yet is kept until its time is over, or it withdraws it"
    )
    func unclaimed() {
        var keeper = IntentKeeper()
        keeper.expect(intent(scan(1), connect(1), connect(2)))
        #expect(keeper.intent == Intent())
        #expect(keeper.kept.requests == [scan(1), connect(1), connect(2)])
        keeper.apply(.central(.peer(peer(2), .cancelConnection)))
        keeper.apply(scan(2))
        #expect(keeper.intent.requests == [scan(2)])
        #expect(keeper.kept.requests == [scan(2), connect(1)])
        var ended = keeper
        ended.processEnded(in: .poweredOn)
        #expect(ended.intent == keeper.kept)
        #expect(!ended.awaitsRadio)
        ended = keeper
        ended.processEnded(in: .resetting)
        #expect(ended.intent == keeper.kept)
        #expect(ended.awaitsRadio)
        keeper.reclaimTimedOut()
        #expect(keeper.kept.requests == [scan(2)])
    }

    @Test("behaviour 1.18, AB-G07: what an app that may no longer use Bluetooth wants of peers is void")
    func withoutPeers() {
        var keeper = recorded(scan(1), connect(1))
        keeper.expect(intent(scan(1), connect(2)))
        keeper.withdrawConnections()
        #expect(keeper.intent.requests == [scan(1)])
        #expect(keeper.kept.requests == [scan(1)])
    }

    @Test("behaviour 1.18, AB-G07: a returned app that may no longer use Bluetooth keeps nothing of peers")
    func barredBeforeTheRadio() {
        let bench = RecordBench()
        let peer = bench.phone.system.peers.peer(at: BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)).identifier
        let (_, first) = bench.open()
        first.send(scan(1))
        first.send(.central(.peer(peer, .connect(ConnectOptions()))))
        bench.world.run(.seconds(1))
        bench.restart(isStarted: false)
        let (app, collector) = bench.open()
        #expect(bench.phone.system.centrals.first?.manager.intent.requests.count == 2)
        bench.phone.system.apps.permissions.set(.notDetermined, for: AppIdentity(name: "com.example.Collector"))
        bench.phone.system.centrals.first?.manager.deliver(.stateChanged(.unknown), on: bench.world.loop)
        #expect(bench.phone.system.centrals.first?.manager.intent.requests == [scan(1)])
        withExtendedLifetime((app, collector)) {}
    }

    @Test("behaviour 9.1: in virtual time what an app is called with waits while it is suspended")
    func callsOfASuspendedApp() {
        let world = ServiceWorld()
        let phone = world.device("Phone")
        let app = phone.app("Collector")
        let count = Atomic(0)
        let queue = SerialQueue("app")
        app.happened(.left)
        app.happened(.timeIsUp)
        app.call({ count.add(1, ordering: .relaxed) }, on: queue)
        world.run(.seconds(1))
        #expect(!app.canWait)
        #expect(count.load(ordering: .relaxed) == 0)
        app.happened(.entered)
        world.run(.seconds(1))
        #expect(count.load(ordering: .relaxed) == 1)
        withExtendedLifetime(phone) {}
    }
}
