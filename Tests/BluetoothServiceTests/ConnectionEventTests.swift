import BluetoothTypes
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Connection events for connections of any app, delivered to the apps that registered for them.
@Suite struct ConnectionEventTests {
    private func changes(_ manager: TestManager) -> [Bool] {
        manager.take().compactMap { event in
            if case .central(.connectionChanged(_, let isConnected)) = event { isConnected } else { nil }
        }
    }

    @Test(
        "behaviour 3.22: a link that fails because the peer lost its keys is never reported"
    )
    func aLinkThatNeverCameToBeUsed() throws {
        let bench = try EnhancedBearerBench().encrypted()
        _ = try bench.app.ask(.cancelConnection(peer: bench.peer), "disconnected", \.disconnection)
        bench.world.run(.seconds(1))
        try bench.sensor.peers.forget(try #require(bench.sensor.peers.bondedPeers.first?.identifier))
        let watcher = bench.world.manager(.central, on: bench.phone)
        watcher.take()
        watcher.send(.central(.watchConnections(ConnectionWatch(services: [], peers: [bench.peer]))))
        bench.app.take()
        bench.app.send(.connect(peer: bench.peer, options: ConnectOptions()))
        bench.world.run(.seconds(5))
        let failed = bench.app.take().contains { event in
            if case .central(.peer(_, .connectionFailed)) = event { true } else { false }
        }
        #expect(failed)
        #expect(changes(watcher) == [])
    }

    @Test("behaviour 3.22: connections of other apps are reported by identifier or by service, once each")
    func connectionsByOthersAreTold() throws {
        let pair = try ConnectedPair()
        let watches: [(ConnectionWatch?, [Bool])] = [
            (ConnectionWatch(peers: [pair.peer]), [true, false]),
            (ConnectionWatch(services: [0x180F, Example.service]), [true, false]),
            (ConnectionWatch(services: [Example.service], peers: [pair.peer, UUID()]), [true, false]),
            (ConnectionWatch(services: [0x180F], peers: [UUID()]), []),
            (ConnectionWatch(), []),
            (nil, []),
        ]
        let listeners = watches.map { watch in
            let listener = pair.phone.manager(.central)
            listener.send(.watchConnections(watch.0))
            return listener
        }
        pair.world.run(.seconds(1))
        for listener in listeners { listener.take() }
        try pair.central.connect(pair.peer)
        // A second app joins the link: observers get no new event.
        let other = pair.phone.manager(.central)
        try other.connect(pair.peer)
        pair.world.run(.seconds(3))
        for manager in [pair.central, other] { manager.send(.cancelConnection(peer: pair.peer)) }
        pair.world.run(.seconds(1))
        for (listener, watch) in zip(listeners, watches) { #expect(changes(listener) == watch.1, "\(watch.0 as Any)") }
    }

    @Test("behaviour 3.22: a new registration replaces the old one, and unregistering ends all events")
    func aNewWatchReplacesTheOldOne() throws {
        let pair = try ConnectedPair()
        func visit() throws -> [Bool] {
            try pair.central.connect(pair.peer)
            pair.world.run(.seconds(3))
            pair.central.send(.cancelConnection(peer: pair.peer))
            pair.world.run(.seconds(1))
            return changes(pair.central)
        }
        pair.central.send(.watchConnections(ConnectionWatch(peers: [pair.peer])))
        // The app's own connections count too. The event for the first one precedes its own `connected` event.
        try pair.central.connect(pair.peer)
        pair.central.send(.cancelConnection(peer: pair.peer))
        pair.world.run(.seconds(1))
        #expect(changes(pair.central) == [false])
        #expect(try visit() == [false])
        pair.central.send(.watchConnections(ConnectionWatch(services: [0x180F])))
        #expect(try visit().isEmpty)
        pair.central.send(.watchConnections(ConnectionWatch(services: [Example.service])))
        #expect(try visit() == [true, false])
        pair.central.send(.watchConnections(nil))
        #expect(try visit().isEmpty)
    }

    @Test("behaviours 1.11, 3.22: a lost link is reported, and a loss of power only as a state")
    func lossIsToldAndPowerIsNot() throws {
        let pair = try ConnectedPair()
        let listener = pair.phone.manager(.central)
        listener.send(.watchConnections(ConnectionWatch(peers: [pair.peer])))
        try pair.central.connect(pair.peer)
        pair.strap.controller.loseLinks(.connectionTimeout)
        pair.world.run(.seconds(1))
        #expect(changes(listener) == [true, false])
        try pair.central.connect(pair.peer)
        pair.phone.system.controllers.setPower(false)
        pair.world.run(.seconds(1))
        #expect(changes(listener) == [true])
        // The registration survives that Bluetooth was off.
        pair.phone.system.controllers.setPower(true)
        pair.world.run(.seconds(1))
        try pair.central.connect(pair.peer)
        #expect(changes(listener) == [true])
    }

    @Test("behaviour 14.23, AB-G05: registrations for connection events are bounded")
    func registrationsAreBounded() {
        func error(_ services: Int, _ peers: Int) -> ServiceError? {
            let watch = ConnectionWatch(
                services: [BluetoothUUID](repeating: 0xFFF0, count: services),
                peers: [UUID](repeating: UUID(), count: peers)
            )
            return Request.central(.watchConnections(watch)).listError
        }
        #expect(error(4, 256) == nil)
        #expect(error(5, 0)?.reason?.contains("5 services") == true)
        #expect(error(0, 257)?.reason?.contains("257 peripherals") == true)
    }

    @Test(
        "behaviour 3.19: a peer that cannot pair gets none of this system's notifications, and stays connected"
    )
    func withoutAPairingNoNotifications() throws {
        let pair = try ConnectedPair(configure: { $0.sharesNotifications = true })
        var options = ConnectOptions()
        options.requiresNotifications = true
        _ = try pair.central.ask(.connect(peer: pair.peer, options: options), "connected", \.connection)
        let isAuthorized = try pair.central.expect("decided") { event -> Bool? in
            if case .central(.peer(_, .notificationsAuthorized(let isAuthorized))) = event { isAuthorized } else { nil }
        }
        #expect(!isAuthorized)
        #expect(pair.phone.system.links.all.count == 1)
    }

    @Test func distancesAreNotMeasuredByAControllerThatCannot() throws {
        let pair = try ConnectedPair().linked()
        let start = Request.central(.peer(pair.peer, .link(.startChannelSounding)))
        let error = try pair.central.ask(start, "ended") { event -> ServiceError?? in
            if case .central(.peer(_, .channelSoundingEnded(let error))) = event { .some(error) } else { nil }
        }
        #expect(error?.code == .core(.operationNotSupported))
    }
}
