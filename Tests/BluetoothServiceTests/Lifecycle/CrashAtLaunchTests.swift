import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import BluetoothService

/// Processes that end while the service preserves their managers.
@Suite struct CrashAtLaunchTests {
    private let launcher = LaunchLog()

    /// A phone whose app is subscribed, and crashes.
    private func crashedApp() throws -> LivingApps {
        let apps = LivingApps(central: .central, restores: true)
        try apps.subscribe()
        _ = apps.phone.manager(.peripheral, of: apps.centralApp, restoring: "other")
        launcher.serve(apps.phone.system)
        apps.centralApp.happened(.ended(.crashed))
        return apps
    }

    private let both = RestoreIdentifiers(centrals: ["collector"], peripherals: ["other"])

    private func kept(_ apps: LivingApps) -> RestoreIdentifiers {
        apps.phone.system.apps.preservation.identifiersToRestore(of: AppIdentity(name: "com.example.Collector"))
    }

    @Test(
        "behaviours 10.6, 10.15: a process that dies before it creates its managers loses nothing; the next event launches the app again",
        arguments: [false, true]
    )
    func aProcessThatDiesAtLaunch(isOpenedByHand: Bool) throws {
        let apps = try crashedApp()
        if !isOpenedByHand { apps.measure([1]) }
        let process = apps.phone.app("Collector", .central)
        apps.world.run(.seconds(1))
        process.happened(.ended(.crashed))
        apps.world.run(.seconds(60))
        #expect(kept(apps) == both)
        #expect(apps.phone.system.links.all.count == 1)
        let before = launcher.launches.count
        apps.measure([2])
        #expect(before == (isOpenedByHand ? 0 : 1))
        #expect(launcher.launches.dropFirst(before).map(\.managers) == [both])
        apps.launchCentral()
        apps.world.run(.zero)
        let values = apps.central.take().compactMap(\.value)
        #expect(values == (isOpenedByHand ? [.success([2])] : [.success([1]), .success([2])]))
    }

    @Test("behaviours 10.6, 10.15: of two managers, the one that a dying process had adopted is preserved too")
    func theAdoptedManagerIsKept() throws {
        let apps = try crashedApp()
        apps.measure([1])
        apps.launchCentral()
        apps.world.run(.seconds(5))
        #expect(apps.central.take().compactMap(\.value) == [.success([1])])
        #expect(kept(apps) == RestoreIdentifiers(peripherals: ["other"]))
        apps.centralApp.happened(.ended(.crashed))
        apps.world.run(.seconds(60))
        #expect(Set(kept(apps).centrals + kept(apps).peripherals) == ["collector", "other"])
        apps.measure([2])
        #expect(launcher.launches.count == 2)
        apps.launchCentral()
        apps.world.run(.zero)
        #expect(apps.central.take().compactMap(\.value) == [.success([2])])
    }

    @Test("behaviour 10.6: each process has ten seconds of its own, whatever its predecessor used")
    func eachProcessHasItsOwnTime() throws {
        let apps = try crashedApp()
        let first = apps.phone.app("Collector", .central)
        apps.world.run(.seconds(8))
        first.happened(.ended(.crashed))
        apps.world.run(.seconds(1))
        let second = apps.phone.app("Collector", .central)
        apps.world.run(.seconds(9))
        #expect(kept(apps) == both)
        apps.world.run(.seconds(1))
        #expect(kept(apps) == RestoreIdentifiers())
        #expect(second.phase == .foreground)
        #expect(apps.phone.system.links.all.isEmpty)
    }

    @Test("behaviour 10.6: after ten crashes at launch, one for each value, the eleventh process gets all values")
    func manyCrashesAtLaunch() throws {
        let apps = try crashedApp()
        for value in UInt8(0)..<10 {
            apps.measure([value])
            #expect(launcher.launches.count == Int(value) + 1)
            apps.phone.app("Collector", .central).happened(.ended(.crashed))
            // Longer than the pause after so many crashes (behaviour 10.25).
            apps.world.run(LaunchBackoff.longestPause)
        }
        apps.launchCentral()
        apps.world.run(.zero)
        #expect(apps.central.take().compactMap(\.value) == (UInt8(0)..<10).map { .success([$0]) })
    }

    @Test("behaviour 10.16: the user can still quit an app that crashed at launch")
    func thePersonEndsAnAppThatHasCrashedAtLaunch() throws {
        let apps = try crashedApp()
        let process = apps.phone.app("Collector", .central)
        process.happened(.ended(.crashed))
        process.happened(.ended(.forceQuit))
        apps.measure([1])
        #expect(launcher.launches.isEmpty)
        #expect(apps.phone.system.apps.preservation.apps.isEmpty)
        #expect(apps.phone.system.links.all.isEmpty)
    }
}
