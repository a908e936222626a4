import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import Testing

@testable import BluetoothService

/// Peers that request this system's notifications.
@Suite struct NotificationSharingTests {
    @Test(
        "behaviour 3.19: a peer that requires this system's notifications is paired, and gets them if the system shares them",
        arguments: [false, true]
    )
    func thePeerIsPairedAndThenItIsDecided(isShared: Bool) throws {
        let trust = TrustWorld { configuration, isPhone in configuration.sharesNotifications = isPhone && isShared }
        let app = try trust.app()
        try app.find()
        app.connect(wantsNotifications: true)
        try app.expect("connected")
        try app.expect("notifications \(isShared)")
        trust.world.run(for: .seconds(1))
        #expect(trust.phone.pairedPeers.count == 1)
        // Without the request, a peer gets none, bonded or not.
        try app.leave()
        try app.visit()
        trust.world.run(for: .seconds(5))
        #expect(!app.log.contains { $0.what.hasPrefix("notifications") })
    }

    @Test("behaviour 3.19: declining the pairing shares no notifications, and the connection stays")
    func decliningSharesNoNotifications() throws {
        let trust = TrustWorld(people: .decline) { configuration, _ in configuration.sharesNotifications = true }
        let app = try trust.app()
        try app.find()
        app.connect(wantsNotifications: true)
        try app.expect("connected")
        try app.expect("notifications false")
        #expect(trust.phone.pairedPeers.isEmpty)
        #expect(!app.log.contains { $0.what == "disconnected" })
    }
}
