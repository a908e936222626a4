import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

@testable import GAP

/// The events of a controller become procedures.
@Suite struct ProcedureAssemblerTests {
    private func result(
        _ counter: UInt16 = 1,
        _ procedure: LESoundingDoneStatus = .complete,
        _ subevent: LESoundingDoneStatus = .complete,
        steps: Int = 2
    ) -> LECSSubeventResult {
        LECSSubeventResult {
            ($0.procedureCounter, $0.antennaPaths) = (counter, 1)
            $0.progress = .init(procedure: procedure, subevent: subevent)
            $0.steps = (0..<steps).map { .init(mode: 2, channel: UInt8(2 + $0), data: [0]) }
        }
    }

    private func more(
        _ procedure: LESoundingDoneStatus = .complete,
        _ subevent: LESoundingDoneStatus = .complete,
        config: UInt8 = 0
    ) -> LECSSubeventResultContinue {
        LECSSubeventResultContinue {
            $0.config = config
            $0.progress = .init(procedure: procedure, subevent: subevent)
            $0.steps = [.init(mode: 1, channel: 50, data: [1])]
        }
    }

    @Test func subeventsAndContinuationsAreJoined() throws {
        var assembler = ProcedureAssembler()
        #expect(try assembler.add(result(7, .partial, .partial)) == nil)
        #expect(try assembler.add(more(.partial, .complete)) == nil)
        let whole = try #require(try assembler.add(result(7)))
        #expect(whole.counter == 7)
        #expect(whole.subevents.map(\.steps.count) == [3, 2])
    }

    @Test func aContinuationWithoutASubeventIsAnError() {
        var assembler = ProcedureAssembler()
        #expect(throws: SoundingError.self) { try assembler.add(more()) }
    }

    @Test func aSubeventInsideOfAnotherIsAnError() throws {
        var assembler = ProcedureAssembler()
        _ = try assembler.add(result(1, .partial, .partial))
        #expect(throws: SoundingError.self) { try assembler.add(result(1)) }
        // The next procedure starts afresh.
        #expect(try assembler.add(result(2))?.subevents.count == 1)
    }

    @Test func aContinuationOfAnotherConfigurationIsAnError() throws {
        var assembler = ProcedureAssembler()
        _ = try assembler.add(result(1, .partial, .partial))
        #expect(throws: SoundingError.self) { try assembler.add(more(config: 1)) }
    }

    @Test func anotherProcedureReplacesOneWithoutEnd() throws {
        var assembler = ProcedureAssembler()
        #expect(try assembler.add(result(1, .partial)) == nil)
        let whole = try #require(try assembler.add(result(2)))
        #expect(whole.counter == 2)
        #expect(whole.subevents.count == 1)
    }

    @Test func aProcedureHasABoundedNumberOfSteps() throws {
        var assembler = ProcedureAssembler()
        #expect(throws: SoundingError.self) {
            for _ in 0..<40 { _ = try assembler.add(result(1, .partial, steps: 20)) }
        }
    }
}

/// Ranging Data and its segments.
@Suite struct RangingDataTests {
    private var procedure: SoundingProcedure {
        var procedure = SoundingProcedure()
        (procedure.counter, procedure.config) = (0x1234, 3)
        var subevent = SoundingProcedure.Subevent()
        (subevent.startEvent, subevent.referencePower) = (0x0506, -40)
        subevent.progress = .init(procedure: .complete, subevent: .complete)
        subevent.steps = [
            .init(mode: 0, channel: 9, data: [1, 2, 3]), .init(mode: 1, channel: 8, data: [1, 2, 3, 4, 5, 6]),
            .init(mode: 2, channel: 7, data: PacketBuffer([UInt8](0..<9))), .init(mode: 2, channel: 6, data: []),
            .init(mode: 3, channel: 5, data: PacketBuffer([UInt8](0..<15))),
        ]
        procedure.subevents = [subevent]
        return procedure
    }

    // The layout of RAS 1.0 3.2.1, as BlueZ writes it (src/shared/rap.c).
    @Test func theLayoutIsThatOfTheSpecification() {
        let bytes = RangingData(procedure, txPower: -5).encoded()
        let expected =
            "3432" + "fb" + "01" + "0605" + "0000" + "00" + "00" + "d8" + "05" + "00010203" + "01010203040506"
            + "02000102030405060708" + "82" + "03000102030405060708090a0b0c0d0e"
        #expect(hexadecimal(bytes) == expected)
    }

    @Test func dataGoRound() throws {
        let data = RangingData(procedure, txPower: -5)
        #expect(try RangingData(reading: data.encoded()) == data)
    }

    @Test func dataCutAnywhereAreErrors() {
        let bytes = RangingData(procedure, txPower: 0).encoded()
        for length in 0..<bytes.count where length != 4 {
            #expect(throws: PacketError.self) { try RangingData(reading: bytes.prefix(upTo: length)) }
        }
    }

    @Test func anUnknownModeIsAnError() {
        var bytes = RangingData(procedure, txPower: 0).encoded()
        bytes[12] = 5
        #expect(throws: PacketError.self) { try RangingData(reading: bytes) }
    }

    @Test(arguments: [2, 20, 182, 2_000])
    func segmentsAreJoined(length: Int) throws {
        let data = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        var assembler = RangingSegments.Assembler()
        var joined: [UInt8]?
        for segment in RangingSegments.split(data, length: length) {
            #expect(segment.count <= length)
            joined = try assembler.add(PacketBuffer(segment))
        }
        #expect(joined == data)
    }

    @Test func aMissingSegmentIsAnError() throws {
        let segments = RangingSegments.split([UInt8](repeating: 7, count: 100), length: 20).map { PacketBuffer($0) }
        var assembler = RangingSegments.Assembler()
        _ = try assembler.add(segments[0])
        #expect(throws: SoundingError.lostSegment) { try assembler.add(segments[2]) }
        #expect(throws: SoundingError.lostSegment) { try assembler.add(segments[3]) }
        #expect(throws: SoundingError.lostSegment) { try assembler.add([]) }
        for segment in segments.dropLast() { #expect(try assembler.add(segment) == nil) }
        #expect(try assembler.add(segments[segments.count - 1])?.count == 100)
    }

    @Test func endlessSegmentsAreAnError() {
        var assembler = RangingSegments.Assembler()
        #expect(throws: SoundingError.lostSegment) {
            for index in 0..<100 {
                let header = UInt8(truncatingIfNeeded: index & 0x3F) << 2 | (index == 0 ? 1 : 0)
                _ = try assembler.add(PacketBuffer([header] + [UInt8](repeating: 0, count: 250)))
            }
        }
    }
}

/// The server of the Ranging Service.
@Suite struct RangingServerTests {
    private func get(_ counter: UInt16) -> RangingServer.Event {
        .written(PacketBuffer(RangingCommand.getData(counter: counter).encoded))
    }

    @Test func aSubscriberGetsDataAtOnce() {
        var server = RangingServer()
        server.isRealTime = true
        #expect(server.handle(.measured(counter: 1, data: [7])) == [.realTime([7])])
        #expect(server.handle(get(1)) == [.respond(.code(.noRecords))])
    }

    @Test func otherDataAreKeptUntilTheyAreAcknowledged() {
        var server = RangingServer()
        #expect(server.handle(.measured(counter: 5, data: [7])) == [.ready(counter: 5)])
        #expect(server.handle(get(5)) == [.onDemand([7]), .respond(.complete(counter: 5))])
        let acknowledgement = RangingCommand.acknowledge(counter: 5).encoded
        #expect(server.handle(.written(PacketBuffer(acknowledgement))) == [.respond(.code(.success))])
        #expect(server.handle(get(5)) == [.respond(.code(.noRecords))])
    }

    @Test func theOldestDataAreOverwritten() {
        var server = RangingServer()
        for counter in 0..<UInt16(RangingServer.maximumKept) {
            #expect(server.handle(.measured(counter: counter, data: [])) == [.ready(counter: counter)])
        }
        #expect(server.handle(.measured(counter: 9, data: [])) == [.overwritten(counter: 0), .ready(counter: 9)])
    }

    // The values that BlueZ's test-rap writes: an operation that is not supported, and a wrong length.
    @Test func badCommandsAreAnsweredWithACode() {
        var server = RangingServer()
        #expect(server.handle(.written([0x02, 0, 0, 0, 0])) == [.respond(.code(.notSupported))])
        #expect(server.handle(.written([0x00])) == [.respond(.code(.invalidParameter))])
        #expect(server.handle(.written([])) == [.respond(.code(.invalidParameter))])
    }
}

/// The preparation of a link.
@Suite struct SoundingMachineTests {
    private func capable(_ roles: LESoundingRoles = [.initiator, .reflector]) -> SoundingMachine.Event {
        var capabilities = LESoundingCapabilities()
        capabilities.roles = roles
        return .capabilities(.success, capabilities)
    }

    @Test func theStepsComeInTheirOrder() {
        var machine = SoundingMachine()
        #expect(machine.handle(.start) == [.readOwnCapabilities])
        #expect(machine.handle(.ownCapabilities(.init())) == [.setRoles])
        #expect(machine.handle(.answered(nil)) == [.readCapabilities])
        #expect(machine.handle(capable()) == [.startSecurity])
        #expect(machine.handle(.secured(.success)) == [.configure])
        #expect(machine.handle(.configured(.success)) == [.setParameters(.single)])
        #expect(machine.handle(.answered(nil)) == [.ready])
        #expect(machine.handle(.measure) == [.enable(true)])
        #expect(machine.handle(.enabled(.success, isEnabled: true)).isEmpty)
        #expect(machine.handle(.measure).isEmpty)
        #expect(machine.handle(.procedureEnded) == [.ready])
    }

    @Test(
        "the antennas are those of which both devices have the most",
        arguments: [
            (1, 1, 4, 0), (2, 1, 4, 1), (4, 1, 4, 3), (1, 2, 4, 4), (1, 4, 4, 6), (2, 2, 4, 7), (2, 2, 3, 1),
            (4, 1, 1, 0),
        ] as [(UInt8, UInt8, UInt8, UInt8)]
    )
    func theAntennasAreChosen(own: UInt8, peer: UInt8, paths: UInt8, selection: UInt8) {
        func capabilities(_ antennas: UInt8) -> LESoundingCapabilities {
            var capabilities = LESoundingCapabilities()
            (capabilities.roles, capabilities.antennas, capabilities.antennaPaths) = (.reflector, antennas, paths)
            return capabilities
        }
        var machine = SoundingMachine()
        _ = machine.handle(.start)
        _ = machine.handle(.ownCapabilities(capabilities(own)))
        _ = machine.handle(.answered(nil))
        _ = machine.handle(.capabilities(.success, capabilities(peer)))
        _ = machine.handle(.secured(.success))
        let chosen = machine.handle(.configured(.success))
        let antennas = LESoundingAntennas(rawValue: selection)
        #expect(chosen == antennas.map { [.setParameters($0)] })
    }

    @Test func aReadyLinkIsReadyAtOnce() {
        var machine = SoundingMachine()
        _ = machine.handle(.start)
        _ = machine.handle(.ownCapabilities(.init()))
        _ = machine.handle(.answered(nil))
        _ = machine.handle(capable())
        _ = machine.handle(.secured(.success))
        _ = machine.handle(.configured(.success))
        _ = machine.handle(.answered(nil))
        #expect(machine.handle(.start) == [.ready])
        // A peer that ends the procedure leaves the link ready for the next one.
        _ = machine.handle(.measure)
        _ = machine.handle(.enabled(.success, isEnabled: true))
        #expect(machine.handle(.enabled(.success, isEnabled: false)) == [.ready])
        #expect(machine.handle(.stop).isEmpty)
    }

    @Test func aPeerThatDoesNotReflectIsAFailure() {
        var machine = SoundingMachine()
        _ = machine.handle(.start)
        _ = machine.handle(.ownCapabilities(.init()))
        _ = machine.handle(.answered(nil))
        #expect(machine.handle(capable(.initiator)) == [.fail(.refused(.unsupportedRemoteFeature))])
        #expect(machine.handle(.secured(.success)).isEmpty)
        #expect(machine.handle(.start) == [.readOwnCapabilities])
    }

    @Test func eachRefusalIsAFailure() {
        var machine = SoundingMachine()
        _ = machine.handle(.start)
        _ = machine.handle(.ownCapabilities(.init()))
        _ = machine.handle(.answered(nil))
        _ = machine.handle(capable())
        #expect(machine.handle(.secured(.insufficientSecurity)) == [.fail(.refused(.insufficientSecurity))])
    }

    @Test func theReflectorsEventsChangeNothing() {
        var machine = SoundingMachine()
        #expect(machine.handle(.secured(.success)).isEmpty)
        #expect(machine.handle(.enabled(.success, isEnabled: true)).isEmpty)
        #expect(machine.handle(.procedureEnded).isEmpty)
        #expect(machine.state == .idle)
    }
}

/// The estimate of the distance.
@Suite struct DistanceEstimatorTests {
    private static let channels = (2...76 as ClosedRange<UInt8>).filter { !(23...25).contains($0) }

    /// The results of two ideal devices for some ways: lengths in metres and amplitudes.
    private func results(
        _ ways: [(length: Double, amplitude: Double)],
        time: Double? = nil
    ) -> (SoundingProcedure, RangingData) {
        var (own, peer) = (SoundingProcedure.Subevent(), SoundingProcedure.Subevent())
        for channel in Self.channels {
            var (i, q) = (0.0, 0.0)
            for way in ways {
                let phase = -2 * Double.pi * (2.402e9 + 1e6 * Double(channel)) * way.length / 299_792_458
                i += way.amplitude * cos(phase)
                q += way.amplitude * sin(phase)
            }
            let tone = LESoundingTone(i: Int(i * 1_000), q: Int(q * 1_000))
            let step = LESoundingStep(
                mode: 2,
                channel: channel,
                data: LESoundingMode2(permutation: 0, tones: [tone, tone]).encoded()
            )
            own.steps.append(step)
            peer.steps.append(step)
        }
        if let time {
            let units = Int16((time * 2 / 299_792_458 / 0.5e-9).rounded())
            let sent = LESoundingMode1(rssi: 0, time: units, antenna: 1).encoded()
            let answered = LESoundingMode1(rssi: 0, time: 0, antenna: 1).encoded()
            own.steps += (0..<10).map { _ in .init(mode: 1, channel: 9, data: sent) }
            peer.steps += (0..<10).map { _ in .init(mode: 1, channel: 9, data: answered) }
        }
        var procedure = SoundingProcedure()
        procedure.subevents = [own]
        var reflected = procedure
        reflected.subevents = [peer]
        return (procedure, RangingData(reflected, txPower: 0))
    }

    @Test(arguments: [0.5, 1, 2.37, 10, 29.9, 60])
    func theSlopeOfOneWayIsItsLength(distance: Double) throws {
        let (own, peer) = results([(distance, 1)])
        #expect(abs(try DistanceEstimator.distance(own, peer) - distance) < 0.03)
    }

    @Test func bothTogetherAreNearTheSlope() throws {
        let (own, peer) = results([(10, 1)], time: 10.8)
        let distance = try DistanceEstimator.distance(own, peer)
        #expect((10...10.1).contains(distance))
    }

    @Test func theTimeAloneIsEnough() throws {
        var (own, peer) = results([(10, 1)], time: 12)
        own.subevents[0].steps.removeFirst(Self.channels.count)
        peer.subevents[0].steps.removeFirst(Self.channels.count)
        #expect(abs(try DistanceEstimator.distance(own, peer) - 12) < 0.1)
    }

    @Test("the tones of several antenna paths are told apart by the permutation of each step")
    func severalPaths() throws {
        var (own, peer) = results([(10, 1)])
        for index in own.subevents[0].steps.indices {
            let step = own.subevents[0].steps[index]
            let tone = try #require(LESoundingMeasurement(step).tones?.tones.first)
            // The second path has no phase, as if it were of no length.
            let flat = LESoundingTone(i: 100, q: 0)
            let permutation = UInt8(index % 2)
            let tones = permutation == 0 ? [tone, flat, tone] : [flat, tone, tone]
            let data = LESoundingMode2(permutation: permutation, tones: tones).encoded()
            own.subevents[0].steps[index].data = data
            peer.subevents[0].steps[index].data = data
        }
        #expect(abs(try DistanceEstimator.distance(own, peer) - 10) < 0.1)
    }

    @Test func theNearestWayCounts() throws {
        let (own, peer) = results([(5, 0.8), (15, 0.6)])
        #expect(abs(try DistanceEstimator.distance(own, peer) - 5) < 0.5)
    }

    @Test func withoutStepsThereIsNoResult() {
        var (own, peer) = results([(5, 1)])
        (own.subevents[0].steps, peer.subevents[0].steps) = ([], [])
        #expect(throws: SoundingError.noResult) { try DistanceEstimator.distance(own, peer) }
    }

    @Test func resultsThatDoNotBelongTogetherAreErrors() {
        let (own, peer) = results([(5, 1)])
        var other = peer
        other.counter = 2
        #expect(throws: SoundingError.self) { try DistanceEstimator.distance(own, other) }
        other = peer
        other.subevents.append(.init())
        #expect(throws: SoundingError.self) { try DistanceEstimator.distance(own, other) }
        other = peer
        other.subevents[0].steps[3].mode = 1
        #expect(throws: SoundingError.self) { try DistanceEstimator.distance(own, other) }
        other = peer
        other.subevents[0].steps[3].data = [1, 2]
        #expect(throws: SoundingError.self) { try DistanceEstimator.distance(own, other) }
    }
}
