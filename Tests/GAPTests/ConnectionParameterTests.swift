import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import L2CAP
import LinkLayer
import Testing

@testable import GAP

/// The connection parameter update procedure (Core Vol 3 Part C 9.3.9), between two complete stacks.
@Suite struct ConnectionParameterTests {
    private static let parameters = ConnectionParameters(
        intervalMinimum: 60,
        intervalMaximum: 80,
        latency: 2,
        timeout: 500
    )

    /// Requests parameters, and waits for the result.
    private func update(
        _ link: AccessLink,
        in world: GAPWorld,
        by request: AccessLink.ParameterRequest = .automatic,
        _ parameters: ConnectionParameters = Self.parameters
    ) -> (result: Result<Void, GAPError>?, time: Duration) {
        var result: Result<Void, GAPError>?
        let begin = world.loop.now
        link.updateParameters(parameters, by: request) { result = $0 }
        world.run(for: .seconds(60)) { result != nil }
        let time = world.loop.now - begin
        world.run(.milliseconds(500))
        return (result, time)
    }

    private func isInEffect(_ connection: HCIConnection) -> Bool {
        (60...80).contains(connection.interval) && connection.latency == 2 && connection.supervisionTimeout == 500
    }

    private func error(_ result: Result<Void, GAPError>?) -> GAPError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test(
        "GAP/CONN/CPUP/BV-01: a peripheral requests parameters by L2CAP, and they take effect",
        arguments: ControllerMode.allCases
    )
    func aPeripheralAsksByL2CAPAndIsFollowed(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        let (result, _) = update(pair.peripheralLink, in: pair.world, by: .l2cap)
        #expect(error(result) == nil)
        #expect(result != nil)
        #expect(isInEffect(pair.peripheralLink.connection))
        #expect(isInEffect(pair.centralLink.connection))
    }

    @Test(
        "GAP/CONN/CPUP/BV-02: a peripheral whose request by L2CAP is not answered gets a time-out",
        arguments: ControllerMode.allCases
    )
    func aPeripheralAsksByL2CAPAndIsNotAnswered(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        pair.centralLink.connection.onReceive = { _, _ in }
        let (result, time) = update(pair.peripheralLink, in: pair.world, by: .l2cap)
        #expect(error(result) == .timedOut)
        #expect(time >= GAPTimer.connectionParameters)
        #expect(time < GAPTimer.connectionParameters + .seconds(1))
        #expect(pair.peripheralLink.connection.isOpen)
        #expect(!isInEffect(pair.peripheralLink.connection))
    }

    @Test(
        "GAP/CONN/CPUP/BV-03: a peripheral whose request by L2CAP is rejected gets the rejection",
        arguments: ControllerMode.allCases
    )
    func aPeripheralAsksByL2CAPAndIsRejected(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        pair.centralLink.parameterPolicy = { _ in false }
        let (result, _) = update(pair.peripheralLink, in: pair.world, by: .l2cap)
        #expect(error(result) == .rejected(.unacceptableConnectionParameters))
        #expect(!isInEffect(pair.peripheralLink.connection))
    }

    @Test(
        "GAP/CONN/CPUP/BV-04: a central accepts a request for acceptable parameters",
        arguments: ControllerMode.allCases
    )
    func aCentralAcceptsGoodParameters(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        var asked: [ConnectionParameters] = []
        pair.centralLink.parameterPolicy = {
            asked.append($0)
            return true
        }
        var changes = 0
        pair.centralLink.onParametersChanged = { changes += 1 }
        _ = update(pair.peripheralLink, in: pair.world, by: .l2cap)
        #expect(asked == [Self.parameters])
        #expect(changes == 1)
        #expect(isInEffect(pair.centralLink.connection))
    }

    @Test(
        "GAP/CONN/CPUP/BV-05: a central rejects a request for unacceptable parameters",
        arguments: ControllerMode.allCases
    )
    func aCentralRejectsBadParameters(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        var asked = 0
        pair.centralLink.parameterPolicy = { _ in
            asked += 1
            return true
        }
        let before = pair.centralLink.connection.interval
        var answers: [[UInt8]] = []
        pair.peripheralLink.connection.onReceive = { fragment, _ in answers.append(fragment.bytes) }
        // An interval of 5 ms, which this package's own peripheral would not send.
        pair.peripheralLink.connection.send(
            PacketBuffer([12, 0, 5, 0, 0x12, 1, 8, 0, 4, 0, 4, 0, 0, 0, 100, 0])
        )
        pair.world.run(.seconds(2))
        // Connection Parameter Update Response with the result "rejected".
        #expect(answers == [[6, 0, 5, 0, 0x13, 1, 2, 0, 1, 0]])
        #expect(asked == 0)
        #expect(pair.centralLink.connection.interval == before)
    }

    @Test("GAP/CONN/CPUP/BV-06: a central changes the parameters on its own", arguments: ControllerMode.allCases)
    func aCentralBegins(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        let (result, _) = update(pair.centralLink, in: pair.world)
        #expect(error(result) == nil)
        #expect(result != nil)
        #expect(isInEffect(pair.peripheralLink.connection))
        #expect(isInEffect(pair.centralLink.connection))
    }

    @Test(
        "GAP/CONN/CPUP/BV-08: a peripheral answers a parameter request of the link layer",
        arguments: ControllerMode.allCases
    )
    func aPeripheralAnswersTheLinkLayersRequest(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        var asked: [ConnectionParameters] = []
        pair.peripheralLink.parameterPolicy = {
            asked.append($0)
            return asked.count > 1
        }
        let (refused, _) = update(pair.centralLink, in: pair.world)
        let (accepted, _) = update(pair.centralLink, in: pair.world)
        #expect(asked.count == 2)
        #expect(asked.allSatisfy { $0 == Self.parameters })
        #expect(error(refused)?.status == .unacceptableConnectionParameters)
        #expect(error(accepted) == nil)
        #expect(isInEffect(pair.peripheralLink.connection))
    }

    @Test("GAP/CONN/CPUP/BV-10: a peripheral requests parameters by the link layer", arguments: ControllerMode.allCases)
    func aPeripheralAsksByTheLinkLayer(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode)
        var asked: [ConnectionParameters] = []
        pair.centralLink.parameterPolicy = {
            asked.append($0)
            return true
        }
        let (result, _) = update(pair.peripheralLink, in: pair.world, by: .linkLayer)
        #expect(error(result) == nil)
        #expect(result != nil)
        #expect(asked == [Self.parameters])
        #expect(isInEffect(pair.centralLink.connection))
    }

    @Test(
        "a peripheral falls back to L2CAP with a central that supports nothing else",
        arguments: ControllerMode.allCases
    )
    func aPeripheralFallsBackToL2CAP(mode: ControllerMode) throws {
        let pair = try LinkedPair(mode, central: { $0.features.remove(.connectionParametersRequest) })
        let (result, _) = update(pair.peripheralLink, in: pair.world)
        #expect(error(result) == nil)
        #expect(result != nil)
        #expect(isInEffect(pair.centralLink.connection))
    }

    @Test func illegalParametersAreNotRequested() throws {
        let pair = try LinkedPair(.legacy)
        let illegal = ConnectionParameters(intervalMinimum: 60, intervalMaximum: 6, latency: 0, timeout: 100)
        #expect(error(update(pair.centralLink, in: pair.world, illegal).result) != nil)
        #expect(error(update(pair.peripheralLink, in: pair.world, illegal).result) != nil)
    }

    @Test func anAttemptEndsWithItsLink() throws {
        let pair = try LinkedPair(.legacy)
        pair.centralLink.connection.onReceive = { _, _ in }
        var result: Result<Void, GAPError>?
        pair.peripheralLink.updateParameters(Self.parameters, by: .l2cap) { result = $0 }
        pair.peripheralLink.terminate()
        pair.world.run { result != nil }
        #expect(error(result) == .linkLost(.localHostTerminated))
        #expect(error(update(pair.peripheralLink, in: pair.world).result) == .linkLost(.unknownConnection))
    }
}
