import AppStandIns
import BeltSetup
import BluetoothSimulation
import CoreBluetooth
import ServiceMessages
import TestBasics
import Testing

@Suite struct BeltSetupTests {
    private let world = SimulatedWorld(seed: 1)
    private let heard = Notes<BeltSetup.Report>()

    private func launchBelt() {
        let belt = world.addDevice(named: "Belt", options: DeviceOptions(pairingScreen: .none, addressLifetime: nil))
        belt.person.behaves(.agrees(lookingAt: []))
        let rate = CBMutableCharacteristic(CBUUID(string: "2A37"), .notify)
        belt.launch("belt") { app in
            let queue = DispatchQueue(label: "belt")
            let belt = PeripheralStandIn("Belt", service: BeltSetup.service, [rate], on: queue)
            app.everyInterval(.seconds(1), on: queue) { belt.send([0, 72], of: rate) }
            return belt
        }
    }

    @Test("The app sets a belt up in one step, uses it without a permission, and still after a new launch")
    func setsUpABelt() {
        launchBelt()
        let phone = world.addDevice(named: "Phone", options: DeviceOptions(permission: .notDetermined))
        phone.person.answersAboutAccessories { question in
            question.kind == .rename ? .name("My belt") : question.offers.first.map { .choose($0.identifier) }
        }
        var declaration = AppDeclaration(displayName: "Belts")
        declaration.setup = SetupDeclaration(services: ["180D"])
        func launch() -> (app: SimulatedApp, belts: BeltSetup) {
            phone.launch("belts", declaring: declaration) { [heard] app in
                (app, BeltSetup(queue: DispatchQueue(label: "belts"), report: heard.add))
            }
        }
        let first = launch()
        world.run(for: .seconds(1))
        #expect(heard.all == [.needsBelt])
        first.belts.addBelt()
        world.run(for: .seconds(10))
        #expect(heard.all.prefix(3) == [.needsBelt, .added("My belt"), .heartRate(72)])
        #expect(phone.person.permissionQuestions.isEmpty)
        #expect(phone.pairedPeers.map(\.name) == ["Belt"])

        first.app.removeFromMemory()
        let before = heard.all.count
        let second = launch()
        world.run(for: .seconds(10))
        #expect(heard.all.dropFirst(before).first == .heartRate(72))
        second.belts.removeBelt()
        world.run(for: .seconds(2))
        #expect(heard.all.last == .removed)
        #expect(phone.pairedPeers.isEmpty)
    }
}
