import ActivityKit
import AppStandIns
import BluetoothTesting
import CoreBluetooth
import NearbyDevices
import TestBasics
import Testing

@Suite struct NearbyDevicesTests {
    private let heard = Notes<NearbyDevices.Report>()

    /// Launches the app on a phone, and starts its search.
    private func search(version: SystemVersion = .newest) async -> (process: SimulatedApp, app: NearbyDevices) {
        let options = DeviceOptions(version: version)
        var declaration = AppDeclaration(backgroundModes: .central)
        declaration.supportsLiveActivities = true
        let launched = world.addDevice(named: "Phone", options)
            .launch("nearby", declaring: declaration) { [heard] process in
                (process, NearbyDevices(queue: DispatchQueue(label: "nearby"), report: heard.add))
            }
        await world.until { [heard] in heard.has(.ready) }
        launched.0.task { launched.1.start() }
        await world.run(for: .seconds(1))
        return launched
    }

    private func addBelt(_ name: String) -> PeripheralStandIn {
        world.addDevice(named: name).launch("belt") { _ in PeripheralStandIn(name) }
    }

    @Test(
        "The app counts devices in the background while its Live Activity lasts, from iOS 26 on",
        .world,
        arguments: [25, 26]
    )
    func countsInTheBackground(version: Int) async throws {
        let (process, app) = await search(version: SystemVersion(integerLiteral: version))
        let counts = Notes<[Int]>()
        let first = addBelt("Belt")
        await world.until { [heard] in heard.has(.found("Belt")) }
        process.leave()
        let second = addBelt("Strap")
        await world.run(for: .seconds(5))
        #expect(heard.has(.found("Strap")) == (version >= 26))
        process.task { counts.add(Activity<NearbyAttributes>.activities.map(\.content.state.count)) }
        await world.run(for: .seconds(1))
        #expect(counts.all == [[version >= 26 ? 2 : 1]])
        withExtendedLifetime((app, first, second)) {}
    }

    @Test(
        "The search ends with the Live Activity, which the user removes or the app ends",
        .world,
        arguments: [true, false]
    )
    func endsWithTheActivity(isRemoved: Bool) async throws {
        let (process, app) = await search()
        #expect(process.hasLiveActivity)
        if isRemoved { process.endLiveActivity() } else { process.task { app.stop() } }
        await world.until { [heard] in heard.has(.ended) }
        await world.run(for: .seconds(1))
        #expect(!process.hasLiveActivity)
        let belt = addBelt("Belt")
        await world.run(for: .seconds(5))
        #expect(!heard.has(.found("Belt")))
        withExtendedLifetime(belt) {}
    }

    @Test("Without the key in its Info.plist, the app says why there is no Live Activity", .world)
    func saysWhatIsMissing() async {
        let (process, app) = world.addDevice(named: "Phone").launch("nearby") { [heard] process in
            (process, NearbyDevices(queue: DispatchQueue(label: "nearby"), report: heard.add))
        }
        await world.until { [heard] in heard.has(.ready) }
        process.task { app.start() }
        await world.until { [heard] in heard.all.last != .ready }
        #expect(heard.all == [.ready, .failed("the Info.plist of the app lacks NSSupportsLiveActivities")])
    }
}
