import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService

/// Requests that wait while an app is suspended.
@Suite struct HeldRequestTests {
    private let world = ServiceWorld()

    private func suspendedApp() -> App {
        let phone = world.device("Phone")
        let app = phone.app("Collector").app.value
        suspend(app)
        return app
    }

    private func suspend(_ app: App) {
        app.happened(.left)
        app.happened(.timeIsUp)
        #expect(app.phase == .suspended)
    }

    @Test("AB-G05: requests wait up to so many octets, each time that the app is suspended, and one more is lost")
    func octets() {
        let app = suspendedApp()
        var performed = 0
        for round in 1...2 {
            app.lifecycle.whenRunning(octets: ServiceLimits.heldOctets) { performed += 1 }
            #expect(!app.hasExceededRequestLimit)
            #expect(performed == round - 1)
            app.happened(.entered)
            #expect(performed == round)
            suspend(app)
        }
        app.lifecycle.whenRunning(octets: ServiceLimits.heldOctets - 1) { performed += 1 }
        app.lifecycle.whenRunning(octets: 1) { performed += 1 }
        #expect(!app.hasExceededRequestLimit)
        app.lifecycle.whenRunning(octets: 1) { performed += 1 }
        #expect(app.hasExceededRequestLimit)
        app.happened(.entered)
        #expect(performed == 4)
    }

    @Test("AB-G05: so many requests wait, in order, and those of a process that ends are for nobody")
    func requests() {
        let app = suspendedApp()
        var performed: [Int] = []
        for number in 0..<ServiceLimits.heldRequests { app.lifecycle.whenRunning { performed.append(number) } }
        #expect(!app.hasExceededRequestLimit)
        app.lifecycle.whenRunning { performed.append(-1) }
        #expect(app.hasExceededRequestLimit)
        #expect(performed.isEmpty)
        app.happened(.entered)
        #expect(performed == Array(0..<ServiceLimits.heldRequests))
        app.lifecycle.whenRunning { performed = [] }
        #expect(performed.isEmpty)
        suspend(app)
        app.lifecycle.whenRunning { performed.append(7) }
        app.happened(.ended(.crashed))
        app.lifecycle.whenRunning { performed.append(8) }
        world.run(.seconds(1))
        #expect(performed.isEmpty)
    }
}
