import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct ServiceLocatorTests {
    @Test func theSimulatedAppComesFirst() {
        let world = TestWorld()
        let app = world.device("Phone").system.openApp(AppIdentity(name: "app"))
        ServiceLocator.$current.withValue(app) {
            #expect(ServiceLocator.connect(otherwise: UnsupportedConnection()) as? InProcessConnection === app)
        }
        #expect(ServiceLocator.connect(otherwise: UnsupportedConnection()) is UnsupportedConnection)
    }
}
