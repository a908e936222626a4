import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct ServiceLocatorTests {
    @Test func theSimulatedAppComesFirst() {
        let world = ServiceWorld()
        let app = world.device("Phone").system.openApp(AppIdentity(name: "app"))
        ServiceLocator.$current.withValue(app) {
            #expect(ServiceLocator.connect(otherwise: UnsupportedConnection()) as? InProcessConnection === app)
        }
        #expect(ServiceLocator.connect(otherwise: UnsupportedConnection()) is UnsupportedConnection)
    }

    @Test("a manager outside of the simulated apps of a process is told so, and one inside is not")
    func managersOutsideAreToldSo() {
        let world = ServiceWorld()
        let place = SimulatedPlace(app: "app", device: "Phone", seed: 1, world: nil)
        let app = world.device("Phone").system.openApp(AppIdentity(name: "app"), at: place)
        var warnings = 0
        _ = ServiceLocator.connect(otherwise: UnsupportedConnection()) { warnings += 1 }
        #expect(warnings == 1)
        ServiceLocator.$current.withValue(app) {
            _ = ServiceLocator.connect(otherwise: UnsupportedConnection()) { warnings += 1 }
        }
        #expect(warnings == 1)
    }
}
