import BluetoothSimulation
import CoreBluetooth
import Foundation
import LinkLayer
import Testing

@testable import BluetoothService

/// Channels that require encryption.
@Suite struct ChannelSecurityTests {
    private func seat(_ world: ChannelWorld, agree: Bool) {
        world.phone.person.behaves(agree ? .agrees(lookingAt: [world.station]) : .declines, after: .seconds(1))
        world.station.person.behaves(agree ? .agrees(lookingAt: [world.phone]) : .declines, after: .seconds(1))
    }

    @Test("behaviour 8.4: opening a channel that requires encryption makes the devices pair")
    func aChannelThatNeedsEncryptionPairs() throws {
        let world = ChannelWorld()
        seat(world, agree: true)
        world.opener.outgoing = Data("secret".utf8)
        world.opener.open(try world.connect(needsEncryption: true)[0])
        #expect(world.run { world.publisher.users.first?.received.count == 6 })
        #expect(world.phone.pairedPeers.count == 1)
        #expect(world.opener.log == ["state 5", "connected", "opened"])
    }

    @Test("behaviours 8.4, 8.12: without pairing, a channel that requires it is refused, and the link stays")
    func withoutAPairingTheChannelIsRefused() throws {
        let world = ChannelWorld()
        seat(world, agree: false)
        world.opener.open(try world.connect(needsEncryption: true)[0])
        #expect(world.run(.seconds(60)) { world.opener.log.last == "not opened" })
        #expect(world.opener.lastError?.att == .insufficientAuthentication)
        #expect(world.opener.isConnected)
        #expect(world.publisher.users.isEmpty)
    }

    /// Events that overtake a request for a channel.
    enum Overtaking: CaseIterable {
        case cancelled, lost, switchedOff, unplugged
    }

    @Test(
        "behaviour 8.12: each open request ends, whatever happens before its response",
        arguments: Overtaking.allCases
    )
    func eachOpenEnds(overtaking: Overtaking) throws {
        let world = ChannelWorld()
        world.phone.person.behaves(.ignores)
        world.station.person.behaves(.ignores)
        let psm = try world.connect(needsEncryption: true)[0]
        for _ in 0..<3 { world.opener.open(psm) }
        world.run(.seconds(2))
        #expect(!world.opener.log.contains("not opened"))
        switch overtaking {
        case .cancelled: world.opener.cancel()
        case .lost: world.station.move(to: Position(x: 1e6))
        case .switchedOff: world.phone.setPower(false)
        case .unplugged: world.phone.setController(isPluggedIn: false)
        }
        world.run(.seconds(120))
        #expect(world.opener.log.filter { $0 == "not opened" }.count == 3, "\(world.opener.log)")
        #expect(!world.opener.log.contains("opened"))
        #expect(world.publisher.users.isEmpty)
    }
}
