import BluetoothTypes
import Foundation
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// Each peer has one link, and everything addressed to the peer's identifier uses that link.
@Suite struct OneLinkTests {
    /// A strap that a phone uses without encryption, and a twin that uses the phone's address.
    private struct Trio {
        let world = ServiceWorld()
        let strap: TestDevice
        let strapApp: TestManager
        let phone: TestDevice
        let phoneApp: TestManager
        let twin: TestDevice
        let twinApp: TestManager
        let central: CentralInfo

        init() throws {
            strap = world.device("Strap")
            strapApp = strap.manager(.peripheral)
            try strapApp.publish()
            phone = world.device("Phone")
            phoneApp = phone.manager(.central)
            try Self.subscribe(phoneApp)
            central = try strapApp.expect("subscribed", \.subscriber).central
            let address = phone.controller.address
            twin = world.device("Twin") { $0.address = .fixed(address) }
            twinApp = twin.manager(.central)
        }

        static func subscribe(_ app: TestManager) throws {
            let peer = try app.find().identifier
            try app.connect(peer)
            let handle = try #require(try app.explore(peer)[Example.measurement])
            let request = Request.setNotify(peer: peer, characteristic: handle, enabled: true)
            _ = try app.ask(request, "subscribed", \.notifyState)
        }
    }

    @Test("AB-G03: a new link with a peer's address replaces an unauthenticated one")
    func aNewcomerTakesThePlaceOfALinkThatHasShownNothing() throws {
        let trio = try Trio()
        let request = AdvertisingRequest(localName: "Strap", services: [Example.service])
        trio.strapApp.send(.startAdvertising(request))
        try Trio.subscribe(trio.twinApp)
        // The app sees one central unsubscribe and subscribe again.
        let left = try trio.strapApp.expect("unsubscribed", \.subscriber)
        #expect(!left.isSubscribed)
        #expect(left.central.identifier == trio.central.identifier)
        let back = try trio.strapApp.expect("subscribed", \.subscriber)
        #expect(back.isSubscribed)
        #expect(back.central.identifier == trio.central.identifier)
        #expect(trio.strap.system.links.all.count == 1)
        _ = try trio.phoneApp.expect("disconnected", \.disconnection)
        trio.world.run(.seconds(1))
        #expect(trio.strap.system.links.all.count == 1)
        #expect(trio.strapApp.events.allSatisfy { $0.subscriber == nil })
        // Notifications go to the central that is connected now.
        trio.phoneApp.take()
        trio.strapApp.send(.updateValue(characteristic: Example.measurementID, value: [7], centrals: nil))
        let value = try trio.twinApp.expect("value", \.value).get()
        #expect(value == [7])
        #expect(trio.phoneApp.events.allSatisfy { $0.value == nil })
    }
}
