import Accessories
import CoreBluetooth
import Foundation
import TestBasics
import Testing

@testable import BluetoothTesting

/// The advice for apps in a world.
@Suite struct WorldAdviceTests {
    @Test("behaviours 12.14, 12.15: an app that advertises from its launch on gets advice, its central none", .world)
    func advice() async {
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        await world.run(for: .seconds(31))
        let advice = world.advice.map { "\($0.device ?? "") \($0.app) \($0.rule.number)" }
        #expect(advice == ["Belt belt 12.15", "Belt belt 12.14"])
        #expect(world.expectNoAdvice(except: [.stopAdvertising]))
    }

    private static let scanLine = #line + 20

    private static let lines = """
        apps could do better in 2 ways
        12.3 Phone: app scanned without naming a service (WorldAdviceTests.swift:\(scanLine)). Name the services to \
        scan for; in the background, a scan that names none finds nothing.
        12.4 Phone: app scanned for more than 60 s without a pause (WorldAdviceTests.swift:\(scanLine)). Stop the scan \
        after some seconds, and let the user start it again.
        To allow what is meant: except: [.scanForServices, .shortScans]
        """

    @Test(
        "an expectation of no advice that fails has each advice as a line",
        .gathers { #expect($0.first?.text.hasPrefix(lines) == true) },
        .world
    )
    func expectation() async {
        let device = world.addDevice(named: "Phone")
        let manager = device.launch("app") { _ in CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        await world.expect(manager, is: .poweredOn)
        manager.scanForPeripherals(withServices: nil)
        await world.run(for: .seconds(61))
        #expect(!world.expectNoAdvice())
        #expect(world.expectNoAdvice(of: "another"))
    }

    @Test(
        "an expectation about one app names it, and accessories are left out",
        .gathers { #expect($0.first?.text.hasPrefix("app could do better in one way\n12.4 Phone: app ") == true) },
        .world
    )
    func expectationOfOneApp() async {
        // It advertises from its launch on, and does not stop.
        world.addAccessory(.heartRate)
        let device = world.addDevice(named: "Phone")
        let manager = device.launch("app") { _ in CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        await world.expect(manager, is: .poweredOn)
        manager.scanForPeripherals(withServices: [CBUUID(string: "180F")])
        await world.run(for: .seconds(61))
        #expect(world.advice.map(\.app) == ["app"])
        #expect(!world.expectNoAdvice(of: "app"))
    }

    @Test("advice outlasts a restart of the device", .world)
    func restart() async {
        let device = world.addDevice(named: "Phone")
        let manager = device.launch("app") { _ in CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app")) }
        await world.expect(manager, is: .poweredOn)
        manager.scanForPeripherals(withServices: nil)
        await world.run(for: .seconds(1))
        device.restart()
        await world.run(for: .seconds(100))
        #expect(world.advice.map(\.rule) == [.scanForServices])
    }
}
