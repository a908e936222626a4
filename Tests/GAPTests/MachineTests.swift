import BluetoothTypes
import HCI
import Testing

@testable import GAP

@Suite struct ConnectorMachineTests {
    private static let a = BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)
    private static let b = BluetoothAddress(0xC0_0000_0000_0B, kind: .randomDevice)
    private static let c = BluetoothAddress(0xC0_0000_0000_0C, kind: .randomDevice)

    private func machine(listSize: Int = 8) -> LoneConnectorMachine {
        var machine = LoneConnectorMachine()
        _ = machine.handle(.ready(acceptListSize: listSize))
        return machine
    }

    @Test func onePeerIsConnectedByItsAddress() {
        var machine = machine()
        #expect(machine.handle(.want(Self.a)) == [.connect(to: Self.a)])
        #expect(machine.handle(.want(Self.a)) == [])
        #expect(machine.handle(.connected(Self.a)) == [.endTurn])
        #expect(machine.state == .idle)
    }

    @Test func severalPeersShareTheAcceptList() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        #expect(machine.handle(.want(Self.b)) == [.endTurn, .cancel])
        #expect(machine.handle(.want(Self.c)) == [])
        #expect(machine.handle(.ended(.unknownConnection)) == [.connectToList([Self.a, Self.b, Self.c])])
        #expect(machine.handle(.connected(Self.b)) == [.endTurn, .connectToList([Self.a, Self.c])])
    }

    @Test("behaviour 3.7: the connector cancels a connection that is pending")
    func aPendingConnectionIsCancelled() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        #expect(machine.handle(.withdraw(Self.a)) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.unknownConnection)) == [])
        #expect(machine.state == .idle)
        #expect(machine.wanted.isEmpty)
    }

    @Test func aConnectionThatWinsAgainstTheCancelIsOne() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        _ = machine.handle(.want(Self.b))
        #expect(machine.handle(.connected(Self.a)) == [.endTurn, .connect(to: Self.b)])
    }

    @Test func refusedConnectionsAreNotRetried() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        let status = HCIStatus.memoryCapacityExceeded
        #expect(machine.handle(.ended(status)) == [.endTurn, .reportFailure(Self.a, status)])
        #expect(machine.wanted.isEmpty)
    }

    @Test func aControllerThatCannotNowIsAskedAgain() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        #expect(machine.handle(.ended(.commandDisallowed)) == [.endTurn, .startRetry(ConnectorMachine.retryDelay)])
        #expect(machine.handle(.want(Self.b)) == [])
        #expect(machine.handle(.withdraw(Self.a)) == [])
        #expect(machine.handle(.retry) == [.connect(to: Self.b)])
        #expect(machine.handle(.retry) == [])
    }

    @Test("behaviour 3.1: peers are tried one at a time if the controller refuses its list because such a link exists")
    func aRefusedListIsTriedPeerByPeer() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        _ = machine.handle(.want(Self.b))
        #expect(machine.handle(.ended(.unknownConnection)) == [.connectToList([Self.a, Self.b])])
        #expect(machine.handle(.ended(.connectionAlreadyExists)) == [.endTurn, .connect(to: Self.a), .startTurn])
        #expect(machine.handle(.turnOver) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.unknownConnection)) == [.connect(to: Self.b), .startTurn])
        #expect(machine.handle(.want(Self.c)) == [.startTurn])
        // Once a link to this peer or another one is established, the list may work again.
        #expect(machine.handle(.connected(Self.b)) == [.endTurn, .connectToList([Self.a, Self.c])])
        #expect(machine.handle(.ended(.connectionAlreadyExists)) == [.endTurn, .connect(to: Self.a), .startTurn])
        #expect(machine.handle(.linkEnded) == [])
        #expect(machine.handle(.turnOver) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.unknownConnection)) == [.connectToList([Self.c, Self.a])])
    }

    @Test(
        "behaviour 3.1: a peer that the controller reports as connected stays pending, and is retried ever more rarely"
    )
    func aPeerThatIsSaidToBeConnectedStaysPending() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        for seconds in [1, 2, 4, 8, 16, 32, 32, 32] {
            #expect(
                machine.handle(.ended(.connectionAlreadyExists)) == [
                    .endTurn, .startRetry(.seconds(seconds)), .reportHeld(Self.a),
                ]
            )
            #expect(machine.wanted == [Self.a])
            #expect(machine.handle(.retry) == [.connect(to: Self.a)])
        }
        #expect(
            machine.handle(.ended(.connectionAlreadyExists)) == [
                .endTurn, .startRetry(.seconds(32)), .reportHeld(Self.a),
            ]
        )
        // When a link ends, another attempt is worthwhile, and peers added meanwhile do not wait.
        #expect(machine.handle(.linkEnded) == [.connect(to: Self.a)])
        #expect(
            machine.handle(.ended(.connectionAlreadyExists)) == [
                .endTurn, .startRetry(.seconds(1)), .reportHeld(Self.a),
            ]
        )
        #expect(machine.handle(.want(Self.b)) == [.connectToList([Self.b, Self.a])])
    }

    @Test("behaviour 3.1: a refused peer does not keep the others waiting")
    func aRefusedPeerKeepsNobodyWaiting() {
        var machine = machine()
        _ = machine.handle(.want(Self.a))
        _ = machine.handle(.want(Self.b))
        _ = machine.handle(.ended(.unknownConnection))
        _ = machine.handle(.ended(.connectionAlreadyExists))
        // One of two is refused: the other gets its turn at once, and the pause begins only when both are refused.
        #expect(
            machine.handle(.ended(.connectionAlreadyExists)) == [
                .endTurn, .connect(to: Self.b), .startTurn, .reportHeld(Self.a),
            ]
        )
        #expect(machine.handle(.turnOver) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.unknownConnection)) == [.connect(to: Self.a), .startTurn])
        #expect(
            machine.handle(.ended(.connectionAlreadyExists)) == [
                .endTurn, .connect(to: Self.b), .startTurn, .reportHeld(Self.a),
            ]
        )
        #expect(
            machine.handle(.ended(.connectionAlreadyExists)) == [
                .endTurn, .startRetry(.seconds(1)), .reportHeld(Self.b),
            ]
        )
        #expect(machine.handle(.withdraw(Self.a)) == [])
        #expect(machine.handle(.retry) == [.connect(to: Self.b)])
        #expect(machine.handle(.pause) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.connectionAlreadyExists)) == [.reportPaused])
        #expect(machine.handle(.resume) == [.connect(to: Self.b)])
    }

    @Test func morePeersThanTheListHoldsTakeTurns() {
        var machine = machine(listSize: 2)
        _ = machine.handle(.want(Self.a))
        _ = machine.handle(.want(Self.b))
        #expect(machine.handle(.ended(.unknownConnection)) == [.connectToList([Self.a, Self.b])])
        #expect(machine.handle(.want(Self.c)) == [.startTurn])
        #expect(machine.handle(.turnOver) == [.endTurn, .cancel])
        #expect(machine.handle(.ended(.unknownConnection)) == [.connectToList([Self.c, Self.a]), .startTurn])
    }

    @Test func resetsEndPendingConnections() {
        var machine = LoneConnectorMachine()
        #expect(machine.handle(.want(Self.a)) == [])
        #expect(machine.handle(.ready(acceptListSize: 0)) == [.connect(to: Self.a)])
        #expect(machine.handle(.reset) == [.endTurn])
        #expect(machine.wanted.isEmpty)
    }

    @Test func wishesAreBounded() {
        var machine = machine()
        for index in 0..<PendingPeers.maximum {
            _ = machine.handle(.want(BluetoothAddress(UInt64(index), kind: .publicDevice)))
        }
        #expect(machine.handle(.want(Self.a)) == [.reportFailure(Self.a, .connectionLimitExceeded)])
    }
}

@Suite struct AdvertiserMachineTests {
    private static let one = advertisement("One")
    private static let two = advertisement("Two")
    private static func advertisement(_ name: String) -> AdvertisingConfiguration {
        var made = AdvertisingConfiguration(
            .connectable,
            data: AdvertisingData([.localName(AdvertisingData.LocalName(name))])
        )
        (made.tempo, made.outlastsConnections) = (tempo, true)
        return made
    }

    private static let tempo = AdvertisingTempo(fast: 32...32, slow: 244...244)
    private static let refused = GAPError.refused(LESetAdvertisingEnable.opcode, .connectionLimitExceeded)

    private func advertising(_ advertisement: AdvertisingConfiguration = Self.one) -> AdvertiserMachine {
        var machine = AdvertiserMachine()
        _ = machine.handle(.want(advertisement))
        _ = machine.handle(.started)
        return machine
    }

    @Test("behaviour 7.16: the start of advertising is reported once it is on the air")
    func startIsReportedOnceItIsOnTheAir() {
        var machine = AdvertiserMachine()
        #expect(machine.handle(.want(Self.one)) == [.startTimers(Self.one), .start(Self.one, .fast)])
        #expect(machine.handle(.started) == [.reportStarted])
        #expect(machine.handle(.want(nil)) == [.endTimers, .stop])
        #expect(machine.handle(.stopped) == [])
        #expect(machine.state == .off)
    }

    @Test("behaviour 7.28: advertising goes on after a connection")
    func advertisingGoesOnAfterAConnection() {
        var machine = advertising()
        #expect(machine.handle(.terminated(.connected)) == [.start(Self.one, .fast)])
        #expect(machine.handle(.failed(Self.refused, isPassing: true)) == [.startRetry, .reportStarted])
        #expect(machine.handle(.tryAgain) == [.start(Self.one, .fast)])
        #expect(machine.handle(.started) == [.reportStarted])
    }

    @Test("behaviour 14.1: advertising is fast at first and slow later")
    func fastAtFirstAndSlowLater() {
        var machine = advertising()
        #expect(machine.handle(.fastPhaseOver) == [.stop])
        #expect(machine.handle(.stopped) == [.start(Self.one, .slow)])
        #expect(Self.tempo.interval(.fast) == 32...32)
        #expect(Self.tempo.interval(.slow) == 244...244)
    }

    @Test func aChangeStopsAndStartsAnew() {
        var machine = advertising()
        #expect(machine.handle(.want(Self.two)) == [.stop])
        #expect(machine.handle(.stopped) == [.start(Self.two, .fast)])
        #expect(machine.handle(.want(Self.one)) == [])
        #expect(machine.handle(.started) == [.stop])
        #expect(machine.handle(.stopped) == [.start(Self.one, .fast)])
    }

    @Test func refusedAdvertisingIsReported() {
        var machine = AdvertiserMachine()
        _ = machine.handle(.want(Self.one))
        #expect(machine.handle(.failed(Self.refused, isPassing: false)) == [.endTimers, .reportFailed(Self.refused)])
        #expect(machine.wanted == nil)
    }

    @Test func aFailureOfWhatIsNoLongerWantedIsNobodysBusiness() {
        var machine = AdvertiserMachine()
        _ = machine.handle(.want(Self.one))
        _ = machine.handle(.want(Self.two))
        #expect(machine.handle(.failed(Self.refused, isPassing: false)) == [.start(Self.two, .fast)])
        _ = machine.handle(.want(nil))
        #expect(machine.handle(.failed(Self.refused, isPassing: false)) == [])
        #expect(machine.state == .off)
    }

    @Test func advertisingEndsWithAConnection() {
        let once = AdvertisingConfiguration(.connectable)
        var machine = advertising(once)
        #expect(machine.handle(.terminated(.connected)) == [.endTimers, .reportEnded(.connected)])
        #expect(machine.state == .off)
        #expect(machine.wanted == nil)
        // A connection during the change to the slow phase ends advertising as well.
        machine = advertising(once)
        _ = machine.handle(.fastPhaseOver)
        #expect(machine.handle(.terminated(.connected)) == [.endTimers, .reportEnded(.connected)])
        #expect(machine.handle(.stopped) == [])
        #expect(machine.state == .off)
    }

    @Test func aPrivateAddressChangesOnTheAir() {
        var machine = advertising()
        #expect(machine.handle(.addressExpired) == [.stop])
        #expect(machine.handle(.stopped) == [.start(Self.one, .fast)])
        machine = AdvertiserMachine()
        #expect(machine.handle(.addressExpired) == [])
    }
}

@Suite struct ScannerMachineTests {
    private static let settings = ScanSettings.attentive
    private static let passive = ScanSettings(isActive: false)

    @Test func oneCommandAfterTheOther() {
        var machine = ScannerMachine()
        #expect(machine.handle(.want(Self.settings)) == [.start(Self.settings)])
        #expect(machine.handle(.want(nil)) == [])
        #expect(machine.handle(.started) == [.stop])
        #expect(machine.handle(.want(Self.settings)) == [])
        #expect(machine.handle(.stopped) == [.start(Self.settings)])
        #expect(machine.handle(.started) == [.reportStarted])
        #expect(machine.state == .running(Self.settings))
        #expect(machine.handle(.reset) == [])
        #expect(machine.handle(.want(nil)) == [])
    }

    @Test func otherSettingsStopAndStartAnew() {
        var machine = ScannerMachine()
        _ = machine.handle(.want(Self.settings))
        _ = machine.handle(.started)
        #expect(machine.handle(.want(Self.passive)) == [.stop])
        #expect(machine.handle(.stopped) == [.start(Self.passive)])
    }

    @Test func aControllerThatCannotNowIsAskedAgain() {
        var machine = ScannerMachine()
        let error = GAPError.refused(LESetScanEnable.opcode, .commandDisallowed)
        _ = machine.handle(.want(Self.settings))
        #expect(machine.handle(.failed(error, isPassing: true)) == [.startRetry])
        #expect(machine.handle(.retry) == [.start(Self.settings)])
        #expect(machine.handle(.failed(error, isPassing: false)) == [.reportFailed(error)])
        #expect(machine.wanted == nil)
        #expect(machine.state == .off)
        #expect(machine.handle(.retry) == [])
    }
}
