import AppStandIns
import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import TestBasics
import Testing

/// Whole apps that the person leaves, and the effects on their code.
@Suite struct AppLifeTests {
    /// An app that advertises a service, and one that scans for it; each records its events.
    private final class Beacon: PeripheralStandIn, @unchecked Sendable {
        let reads = Mutex(0)

        init() {
            super.init("Beacon", service: AppLifeTests.service, [CBMutableCharacteristic(AppLifeTests.value, .read)])
        }

        override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
            reads.withLock { $0 += 1 }
            request.value = Data([42])
            peripheral.respond(to: request, withResult: .success)
        }
    }

    private final class Seeker: CentralStandIn, @unchecked Sendable {
        let heard = Notes<String>()

        init(_ wanted: CBUUID = AppLifeTests.service) { super.init(seeking: [wanted]) }

        override func centralManagerDidUpdateState(_ central: CBCentralManager) {
            heard.add("state \(central.state.rawValue)")
            super.centralManagerDidUpdateState(central)
        }

        override func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
            let overflow = advertisementData[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] ?? []
            if found == nil { heard.add("\(name ?? "nameless") \(overflow.map(\.uuidString))") }
            super.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
        }

        override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: characteristic)
        }

        override func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateValueFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            let value = characteristic.value.map { "\($0[0])" } ?? "-"
            heard.add("value \(value) \(error.map { "\(($0 as NSError).code)" } ?? "")")
        }
    }

    private static let service = CBUUID(string: "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6")
    private static let value = CBUUID(string: "2F234455-CF6D-4A0F-ADF2-F4911BA9FFA6")

    private let world = SimulatedWorld(seed: 9)

    @Test(
        "behaviours 2.34, 2.36, 7.24: two Harald devices find each other through the overflow area, in any phase, without matching any other filter",
        arguments: [false, true],
        [false, true]
    )
    func twoDevicesFindEachOther(advertiserSleeps: Bool, seekerSleeps: Bool) {
        let (one, other) = (world.addDevice(named: "One"), world.addDevice(named: "Other"))
        let both = AppDeclaration(backgroundModes: [.central, .peripheral])
        let (beacon, beaconApp) = one.launch("beacon", declaring: both) { (Beacon(), $0) }
        world.run(for: .seconds(1))
        if advertiserSleeps { beaconApp.leave() }
        let (seeker, seekerApp) = other.launch("seeker", declaring: both) { (Seeker(), $0) }
        let stranger = other.launch("stranger", declaring: both) { _ in Seeker(CBUUID(string: "180F")) }
        if seekerSleeps { seekerApp.leave() }
        world.run(for: .seconds(120))
        let name = advertiserSleeps ? "nameless [\"\(Self.service.uuidString)\"]" : "Beacon []"
        #expect(seeker.heard.all == ["state 5", name, "value 42 "])
        #expect(beacon.reads.withLock { $0 } == 1)
        #expect(stranger.heard.all == ["state 5"])
        #expect(beaconApp.phase == (advertiserSleeps ? .suspended : .foreground))
    }

    @Test("behaviours 9.1, 9.7: timers and tasks of an app stop while it is suspended, and end with its process")
    func timersAndTasksStandStill() async {
        let world = world
        let ticks = Mutex(0)
        let naps = Mutex(0)
        let app = world.addDevice(named: "Phone").launch("clock") { $0 }
        app.everyInterval(.seconds(1), on: DispatchQueue(label: "ticks")) { ticks.withLock { $0 += 1 } }
        let sleeper = app.task {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(1), clock: world.clock)
                naps.withLock { $0 += 1 }
            }
        }
        defer { sleeper.cancel() }
        func counts() -> [Int] { [ticks.withLock { $0 }, naps.withLock { $0 }] }
        world.run(for: .milliseconds(10_500))
        #expect(counts() == [10, 10])
        app.leave()
        world.run(for: .seconds(30))
        #expect(app.phase == .suspended)
        #expect(counts() == [40, 40])
        world.run(for: .seconds(1_000))
        #expect(counts() == [40, 40])
        app.enter()
        world.run(for: .milliseconds(10_500))
        let after = counts()
        #expect(after.allSatisfy { (50...52).contains($0) }, "\(after)")
        app.crash()
        world.run(for: .seconds(100))
        #expect(counts() == after)
        #expect(app.phase == .notRunning(.crashed))
    }

    @Test("behaviour 9.1: an app that requests time has three minutes")
    func anAppThatAsksForTime() {
        let app = world.addDevice(named: "Phone").launch("worker") { $0 }
        app.leave()
        app.beginBackgroundTask()
        world.run(for: .seconds(179))
        #expect(app.phase == .background)
        world.run(for: .seconds(1))
        #expect(app.phase == .suspended)
        app.enter()
        app.leave()
        app.beginBackgroundTask()
        world.run(for: .seconds(60))
        app.endBackgroundTask()
        #expect(app.phase == .suspended)
    }

    @Test(
        "behaviour 9.14: an ended process leaves nothing behind, and its app can be launched again",
        arguments: [true, false]
    )
    func ofAnAppThatIsGoneNothingIsLeft(isForced: Bool) {
        let (one, other) = (world.addDevice(named: "One"), world.addDevice(named: "Other"))
        let (beacon, app) = one.launch("beacon") { (Beacon(), $0) }
        world.run(for: .seconds(1))
        #expect(one.advertisedAddress != nil)
        _ = isForced ? app.forceQuit() : app.removeFromMemory()
        world.run(for: .seconds(1))
        #expect(one.advertisedAddress == nil)
        #expect(app.phase == .notRunning(isForced ? .forceQuit : .removedFromMemory))
        let seeker = other.launch("seeker") { _ in Seeker() }
        world.run(for: .seconds(5))
        #expect(seeker.heard.all == ["state 5"])
        let again = one.launch("beacon") { _ in Beacon() }
        world.run(for: .seconds(5))
        #expect(seeker.heard.all.last == "value 42 ")
        #expect(again.reads.withLock { $0 } == 1)
        #expect(beacon.reads.withLock { $0 } == 0)
    }

    @Test(
        "behaviours 1.18, 1.19: the person sees the app's own text, and answers yes, no, or nothing for a while"
    )
    func thePersonIsAsked() {
        var options = DeviceOptions()
        options.permission = .notDetermined
        let phone = world.addDevice(named: "Phone", options: options)
        let declaration = AppDeclaration(displayName: "Heart", usageDescription: "To read your belt")
        phone.person.permits { $0.app == "Heart" ? .wait : .deny }
        let heart = phone.launch("com.example.heart", declaring: declaration) { _ in Seeker() }
        let other = phone.launch("other", declaring: AppDeclaration(usageDescription: "To spy")) { _ in Seeker() }
        let silent = phone.launch("silent") {
            _ = Seeker(); return $0
        }
        world.run(for: .seconds(1))
        #expect(silent.phase == .notRunning(.crashed))
        #expect(heart.heard.all.isEmpty)
        #expect(other.heard.all == ["state 3"])
        let asked = phone.person.permissionQuestions
        #expect(asked.map(\.app) == ["Heart", "other"])
        #expect(asked.map(\.usageDescription) == ["To read your belt", "To spy"])
        phone.person.permits { _ in .allow }
        world.run(for: .seconds(1))
        #expect(heart.heard.all == ["state 5"])
        #expect(phone.person.permissionQuestions.count == 2)
    }
}
