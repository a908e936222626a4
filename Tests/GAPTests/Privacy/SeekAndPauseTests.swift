import BluetoothTypes
import HCI
import Testing

@testable import GAP

@Suite struct SeekMachineTests {
    private static let peer = BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)
    private static let other = BluetoothAddress(0xC0_0000_0000_0B, kind: .randomDevice)
    private static let first = BluetoothAddress(0x40_0000_0000_01, kind: .randomDevice)
    private static let second = BluetoothAddress(0x40_0000_0000_02, kind: .randomDevice)

    @Test func aPeerIsListenedForAndThenConnectedTo() {
        var machine = LoneSeekMachine()
        #expect(machine.handle(.received(Self.peer, at: Self.first)) == [])
        #expect(machine.handle(.want(Self.peer)) == [.listen])
        #expect(machine.handle(.want(Self.peer)) == [])
        let tried: [SeekMachine.Action] = [.endListening, .connect(Self.first), .startTimer(Self.peer)]
        #expect(machine.handle(.received(Self.peer, at: Self.first)) == tried)
        #expect(machine.handle(.received(Self.peer, at: Self.first)) == [])
        #expect(machine.address(of: Self.peer) == Self.first)
        #expect(machine.peer(at: Self.first) == Self.peer)
        #expect(machine.handle(.connected(Self.peer)) == [.endTimer(Self.peer)])
        #expect(machine.peers.isEmpty)
    }

    @Test func anAddressThatHasChangedIsGivenUp() {
        var machine = LoneSeekMachine()
        _ = machine.handle(.want(Self.peer))
        _ = machine.handle(.want(Self.other))
        _ = machine.handle(.received(Self.peer, at: Self.first))
        // The scan for the other peer goes on.
        #expect(
            machine.handle(.received(Self.peer, at: Self.second))
                == [.giveUp(Self.first), .connect(Self.second), .startTimer(Self.peer)]
        )
        #expect(machine.handle(.timeOver(Self.peer)) == [.giveUp(Self.second)])
        #expect(machine.handle(.withdraw(Self.peer)) == [])
        #expect(machine.handle(.withdraw(Self.other)) == [.endListening])
    }

    @Test func endedSearchesIgnoreLaterEvents() {
        var machine = LoneSeekMachine()
        _ = machine.handle(.want(Self.peer))
        _ = machine.handle(.received(Self.peer, at: Self.first))
        #expect(machine.handle(.withdraw(Self.peer)) == [.endTimer(Self.peer), .giveUp(Self.first)])
        _ = machine.handle(.want(Self.peer))
        _ = machine.handle(.received(Self.peer, at: Self.first))
        #expect(machine.handle(.failed(Self.peer)) == [.endTimer(Self.peer)])
        _ = machine.handle(.want(Self.peer))
        _ = machine.handle(.received(Self.peer, at: Self.first))
        #expect(machine.handle(.reset) == [.endTimer(Self.peer)])
        #expect(machine.handle(.timeOver(Self.peer)) == [])
    }
}

/// The users of the radio pause in every state, report it once, and resume.
@Suite struct PauseTests {
    private static let settings = ScanSettings.attentive
    private static let advertisement = AdvertisingConfiguration(.connectable)
    private static let peer = BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)

    @Test func aScanner() {
        var machine = ScannerMachine()
        #expect(machine.handle(.pause) == [.reportPaused])
        #expect(machine.handle(.want(Self.settings)) == [])
        #expect(machine.handle(.resume) == [.start(Self.settings)])
        // A pause while the scan is starting.
        #expect(machine.handle(.pause) == [])
        #expect(machine.handle(.started) == [.reportStarted, .stop])
        #expect(machine.handle(.stopped) == [.reportPaused])
        #expect(machine.handle(.resume) == [.start(Self.settings)])
        _ = machine.handle(.started)
        #expect(machine.handle(.pause) == [.stop])
        #expect(machine.handle(.want(nil)) == [])
        #expect(machine.handle(.stopped) == [.reportPaused])
        #expect(machine.handle(.resume) == [])
        // A pause while the controller is busy.
        _ = machine.handle(.want(Self.settings))
        #expect(machine.handle(.failed(.busy, isPassing: true)) == [.startRetry])
        #expect(machine.handle(.pause) == [.reportPaused])
        #expect(machine.handle(.retry) == [])
        #expect(machine.handle(.resume) == [.start(Self.settings)])
        #expect(machine.handle(.pause) == [])
        #expect(machine.handle(.failed(.busy, isPassing: false)) == [.reportFailed(.busy), .reportPaused])
    }

    @Test func anAdvertiser() {
        var machine = AdvertiserMachine()
        let start = AdvertiserMachine.Action.start(Self.advertisement, .fast)
        #expect(machine.handle(.pause) == [.reportPaused])
        #expect(machine.handle(.want(Self.advertisement)) == [.startTimers(Self.advertisement)])
        #expect(machine.handle(.resume) == [start])
        #expect(machine.handle(.pause) == [])
        #expect(machine.handle(.started) == [.reportStarted, .stop])
        #expect(machine.handle(.stopped) == [.reportPaused])
        #expect(machine.handle(.resume) == [start])
        _ = machine.handle(.started)
        #expect(machine.handle(.pause) == [.stop])
        // A central has connected meanwhile.
        #expect(machine.handle(.terminated(.connected)) == [.endTimers, .reportEnded(.connected)])
        #expect(machine.handle(.stopped) == [.reportPaused])
        #expect(machine.handle(.resume) == [])
        _ = machine.handle(.want(Self.advertisement))
        #expect(machine.handle(.failed(.busy, isPassing: true)) == [.startRetry, .reportStarted])
        #expect(machine.handle(.pause) == [.reportPaused])
        #expect(machine.handle(.tryAgain) == [])
        #expect(machine.handle(.resume) == [start])
    }

    @Test func aConnector() {
        var machine = LoneConnectorMachine()
        _ = machine.handle(.ready(acceptListSize: 8))
        #expect(machine.handle(.pause) == [.reportPaused])
        #expect(machine.handle(.want(Self.peer)) == [])
        #expect(machine.handle(.resume) == [.connect(to: Self.peer)])
        #expect(machine.handle(.pause) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.unknownConnection)) == [.reportPaused])
        #expect(machine.handle(.resume) == [.connect(to: Self.peer)])
        _ = machine.handle(.pause)
        // The connection is complete before the cancel.
        #expect(machine.handle(.connected(Self.peer)) == [.endTurn, .reportPaused])
        #expect(machine.handle(.resume) == [])
    }
}
