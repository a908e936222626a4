import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

@testable import LinkLayer

/// A central that initiates and a peripheral that reflects, on an encrypted link.
private struct SoundingPair {
    let pair: Pair
    var initiator: TestHost { pair.central }
    var reflector: TestHost { pair.peripheral }

    init(
        _ world: LinkLayerWorld = LinkLayerWorld(),
        distance: Double = 5,
        isEncrypted: Bool = true,
        isReflectorReady: Bool = true,
        antennas: (UInt8, UInt8) = (1, 1)
    ) throws {
        let hosts = [(0, antennas.0), (distance, antennas.1)].map { x, antennas in
            world.host(at: x) {
                $0.features.formUnion(VirtualController.soundingFeatures)
                $0.antennas = antennas
            }
        }
        for (index, host) in hosts.enumerated() where index == 0 || isReflectorReady {
            #expect(host.send(LESetHostFeature(bitNumber: 47, isSupported: true)) == .success)
        }
        pair = try Pair(world, central: hosts[0], peripheral: hosts[1], interval: 24, timeout: 400)
        for (host, handle) in [(hosts[0], pair.centralHandle), (hosts[1], pair.peripheralHandle)] {
            let settings = LECSSetDefaultSettings {
                ($0.handle, $0.roles, $0.syncAntenna, $0.maxTxPower) = (handle, [.initiator, .reflector], 0xFF, 20)
            }
            #expect(host.send(settings) == .success)
        }
        if isEncrypted { pair.encrypt() }
    }

    static func settings(_ change: (inout LESoundingConfiguration) -> Void = { _ in }) -> LESoundingConfiguration {
        var settings = LESoundingConfiguration()
        (settings.mainMode, settings.subMode, settings.minMainModeSteps, settings.maxMainModeSteps) = (2, 1, 3, 5)
        (settings.mode0Steps, settings.syncPHY, settings.mapRepetition) = (3, 1, 1)
        settings.channelMap = [0xFC, 0xFF, 0x7F, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]
        change(&settings)
        return settings
    }

    func create(_ settings: LESoundingConfiguration = settings(), config: UInt8 = 0) -> LECSCreateConfig {
        LECSCreateConfig {
            ($0.handle, $0.config, $0.isForBoth, $0.configuration) = (pair.centralHandle, config, true, settings)
        }
    }

    func parameters(count: UInt16 = 1, interval: UInt16 = 10, antennas: UInt8 = 0) -> LECSSetProcedureParameters {
        LECSSetProcedureParameters {
            $0.antennaConfiguration = antennas
            ($0.handle, $0.maxProcedureLength) = (pair.centralHandle, 1_600)
            ($0.minProcedureInterval, $0.maxProcedureInterval) = (interval, interval)
            ($0.maxProcedureCount, $0.minSubeventLength, $0.maxSubeventLength) = (count, 5_000, 25_000)
            ($0.phy, $0.txPowerDelta, $0.snrInitiator, $0.snrReflector) = (1, 0x80, 0xFF, 0xFF)
        }
    }

    /// Carries out all procedures before the start of the measurement.
    func prepare(_ settings: LESoundingConfiguration = settings(), count: UInt16 = 1) {
        let handle = pair.centralHandle
        #expect(initiator.send(LECSReadRemoteSupportedCapabilities(handle: handle)) == .success)
        #expect(initiator.send(LECSSecurityEnable(handle: handle)) == .success)
        pair.world.run(.seconds(1))
        #expect(initiator.send(create(settings)) == .success)
        pair.world.run(.seconds(1))
        #expect(initiator.send(parameters(count: count)) == .success)
    }

    func enable(_ isEnabled: Bool = true) -> HCIStatus {
        initiator.send(LECSProcedureEnable(handle: pair.centralHandle, config: 0, isEnabled: isEnabled))
    }

    /// How far each event of a device says that its procedure is, in their order.
    func progress(_ host: TestHost) -> [LESoundingProgress] {
        host.packets.compactMap { entry in
            guard entry.packet.kind == .event, let event = try? EventPacket(reading: entry.packet.bytes) else {
                return nil
            }
            switch event.subevent {
            case LECSSubeventResult.subevent: return (try? LECSSubeventResult.reading(event.eventParameters))?.progress
            case LECSSubeventResultContinue.subevent:
                return (try? LECSSubeventResultContinue.reading(event.eventParameters))?.progress
            default: return nil
            }
        }
    }

    /// All steps that a device has reported.
    func steps(_ host: TestHost) -> [LESoundingStep] {
        host.packets.flatMap { entry -> [LESoundingStep] in
            guard entry.packet.kind == .event, let event = try? EventPacket(reading: entry.packet.bytes) else {
                return []
            }
            switch event.subevent {
            case LECSSubeventResult.subevent:
                return (try? LECSSubeventResult.reading(event.eventParameters))?.steps ?? []
            case LECSSubeventResultContinue.subevent:
                return (try? LECSSubeventResultContinue.reading(event.eventParameters))?.steps ?? []
            default: return []
            }
        }
    }

    /// The mean round-trip distance of the mode 1 and 3 steps, in metres.
    var meanTime: Double {
        let pairs = zip(steps(initiator), steps(reflector)).compactMap { first, second -> Double? in
            guard let sent = try? LESoundingMeasurement(first).time,
                let answered = try? LESoundingMeasurement(second).time
            else { return nil }
            return Double(sent.time) - Double(answered.time)
        }
        return pairs.reduce(0, +) / Double(pairs.count) / 2 * 0.5e-9 * SoundingPaths.speedOfLight
    }
}

@Suite struct SoundingTests {
    @Test("LL/CS/CEN/INI/BV-03, LL/CS/CEN/INI/BV-05: after the configuration both ends measure the same steps")
    func theTwoControllersAgreeStepByStep() throws {
        let scene = try SoundingPair()
        scene.prepare()
        let capabilities = scene.initiator.events(LECSReadRemoteSupportedCapabilitiesComplete.self)
        #expect(capabilities.map(\.status) == [.success])
        #expect(capabilities.first?.capabilities == .simulated())
        for host in [scene.initiator, scene.reflector] {
            #expect(host.events(LECSSecurityEnableComplete.self).map(\.status) == [.success])
            #expect(host.events(LECSConfigComplete.self).map(\.isCreated) == [true])
        }
        #expect(scene.initiator.events(LECSConfigComplete.self).first?.configuration.role == .initiator)
        #expect(scene.reflector.events(LECSConfigComplete.self).first?.configuration.role == .reflector)
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(2))
        for host in [scene.initiator, scene.reflector] {
            #expect(host.events(LECSProcedureEnableComplete.self).map(\.isEnabled) == [true])
            #expect(scene.progress(host).last?.procedure == .complete)
            #expect(scene.progress(host).dropLast().allSatisfy { $0.procedure == .partial })
            let steps = scene.steps(host)
            let channels = Set(steps.filter { $0.mode == 2 }.map(\.channel))
                .union(steps.filter { $0.mode == 1 }.map(\.channel))
            #expect(channels == Set(SoundingState.usableChannels))
            #expect(steps.contains { $0.mode == 0 })
        }
        let (sent, reflected) = (scene.steps(scene.initiator), scene.steps(scene.reflector))
        #expect(sent.map(\.channel) == reflected.map(\.channel))
        #expect(sent.map(\.mode) == reflected.map(\.mode))
        #expect(throws: Never.self) { try sent.forEach { _ = try LESoundingMeasurement($0) } }
    }

    @Test(arguments: [0.5, 5, 30])
    func theTimeOfFlightIsThatOfTheDistance(distance: Double) throws {
        let scene = try SoundingPair(distance: distance)
        scene.prepare(SoundingPair.settings { ($0.mainMode, $0.subMode) = (1, 0xFF) })
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(2))
        #expect(abs(scene.meanTime - distance) < 0.6)
    }

    @Test(arguments: [1, 2, 3] as [UInt8])
    func eachModeMeasures(mode: UInt8) throws {
        let scene = try SoundingPair()
        scene.prepare(SoundingPair.settings { ($0.mainMode, $0.subMode) = (mode, 0xFF) })
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(3))
        let steps = scene.steps(scene.initiator).filter { $0.mode != 0 }
        #expect(steps.count >= 72)
        for step in steps {
            let measurement = try LESoundingMeasurement(step)
            #expect((measurement.time != nil) == (mode != 2))
            #expect((measurement.tones != nil) == (mode != 1))
        }
    }

    @Test(
        "each pair of antennas is a path, whose order both ends draw alike",
        arguments: [
            (2, 1, 1), (1, 3, 5), (4, 1, 3), (2, 2, 7),
        ] as [(UInt8, UInt8, UInt8)]
    )
    func antennasArePaths(initiator: UInt8, reflector: UInt8, selection: UInt8) throws {
        let scene = try SoundingPair(antennas: (initiator, reflector))
        scene.prepare()
        #expect(scene.initiator.send(scene.parameters(antennas: selection)) == .success)
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(2))
        let enabled = scene.initiator.events(LECSProcedureEnableComplete.self)
        #expect(enabled.map(\.antennaConfiguration) == [selection])
        let paths = Int(initiator * reflector)
        #expect(scene.reflector.events(LECSSubeventResult.self).allSatisfy { Int($0.antennaPaths) == paths })
        let antennas = try #require(LESoundingAntennas(rawValue: selection))
        var permutations: Set<UInt8> = []
        for (own, peer) in zip(scene.steps(scene.initiator), scene.steps(scene.reflector)) where own.mode == 2 {
            let (first, second) = (try LESoundingMeasurement(own).tones, try LESoundingMeasurement(peer).tones)
            let (tones, others) = (try #require(first), try #require(second))
            #expect(tones.tones.count == paths + 1)
            #expect(tones.permutation == others.permutation)
            permutations.insert(tones.permutation)
            for (path, (tone, other)) in zip(tones.byPath, others.byPath).enumerated() {
                let pair = antennas.paths[path]
                let distance = 5 + SoundingMeter.spacing * Double(pair.reflector - pair.initiator)
                let frequency = SoundingPaths.frequency(of: own.channel)
                let expected = -4 * Double.pi * frequency * distance / SoundingPaths.speedOfLight
                let angle = atan2(
                    Double(tone.i * other.q + tone.q * other.i),
                    Double(tone.i * other.i - tone.q * other.q)
                )
                #expect(abs(remainder(angle - expected, 2 * .pi)) < 0.4)
            }
        }
        #expect(permutations.count > 1)
        #expect(permutations.allSatisfy { $0 < (1...paths).reduce(1, *) })
    }

    @Test func antennasThatADeviceDoesNotHaveAreRefused() throws {
        let scene = try SoundingPair(antennas: (2, 1))
        scene.prepare()
        for selection in [2, 4, 7] as [UInt8] {
            let status = scene.initiator.send(scene.parameters(antennas: selection))
            #expect(status == .unsupportedFeatureOrParameter)
        }
        #expect(scene.initiator.send(scene.parameters(antennas: 8)) == .unsupportedFeatureOrParameter)
    }

    @Test func mainModeStepsAreRepeatedInTheNextSubevent() throws {
        let scene = try SoundingPair()
        scene.prepare(SoundingPair.settings { ($0.subMode, $0.mainModeRepetition) = (0xFF, 2) })
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(2))
        let events = scene.initiator.events(LECSSubeventResult.self)
        #expect(events.count >= 2)
        let tones = scene.steps(scene.initiator).filter { $0.mode == 2 }
        #expect(tones.count == 72 + 2 * (events.count - 1))
    }

    @Test("LL/CS/CEN/BV-01, LL/CS/PER/INI/BV-02: a peripheral asks for the capabilities, and its central answers")
    func thePeripheralAsksForCapabilities() throws {
        let scene = try SoundingPair()
        let handle = scene.pair.peripheralHandle
        #expect(scene.reflector.send(LECSReadRemoteSupportedCapabilities(handle: handle)) == .success)
        scene.pair.world.run(.seconds(1))
        let events = scene.reflector.events(LECSReadRemoteSupportedCapabilitiesComplete.self)
        #expect(events.map(\.status) == [.success])
        #expect(events.first?.capabilities == .simulated())
    }

    @Test("LL/CS/CEN/INI/BV-01: procedures go on until they are ended, and can be started again")
    func proceduresGoOnUntilTheyAreEnded() throws {
        let scene = try SoundingPair()
        scene.prepare(count: 0)
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(3))
        #expect(scene.enable() == .commandDisallowed)
        let counters = scene.initiator.events(LECSSubeventResult.self).map(\.procedureCounter)
        #expect((8...11).contains(Set(counters).count))
        #expect(scene.enable(false) == .success)
        scene.pair.world.run(.seconds(1))
        for host in [scene.initiator, scene.reflector] {
            #expect(host.events(LECSProcedureEnableComplete.self).map(\.isEnabled) == [true, false])
        }
        let before = scene.steps(scene.initiator).count
        scene.pair.world.run(.seconds(2))
        #expect(scene.steps(scene.initiator).count == before)
        // Started again, the two generators are still in step.
        #expect(scene.enable() == .success)
        scene.pair.world.run(.seconds(1))
        #expect(scene.steps(scene.initiator).count > before)
    }

    @Test func withoutEncryptionThereIsNoSecurity() throws {
        let scene = try SoundingPair(isEncrypted: false)
        #expect(scene.initiator.send(LECSSecurityEnable(handle: scene.pair.centralHandle)) == .insufficientSecurity)
        #expect(scene.reflector.send(LECSSecurityEnable(handle: scene.pair.peripheralHandle)) == .insufficientSecurity)
    }

    @Test func aPeripheralDoesNotStartSecurity() throws {
        let scene = try SoundingPair()
        #expect(scene.reflector.send(LECSSecurityEnable(handle: scene.pair.peripheralHandle)) == .commandDisallowed)
    }

    @Test func aPeerWithoutTheFeatureIsReported() throws {
        let scene = try SoundingPair(isReflectorReady: false)
        #expect(
            scene.initiator.send(LECSReadRemoteSupportedCapabilities(handle: scene.pair.centralHandle)) == .success
        )
        scene.pair.world.run(.seconds(1))
        let events = scene.initiator.events(LECSReadRemoteSupportedCapabilitiesComplete.self)
        #expect(events.map(\.status) == [.unsupportedRemoteFeature])
    }

    @Test func aControllerWithoutTheFeatureKnowsNoCommand() throws {
        let pair = try Pair()
        #expect(pair.central.send(LECSReadLocalSupportedCapabilities()) == .unknownCommand)
        let host = LinkLayerWorld().host()
        #expect(host.send(LESetHostFeature(bitNumber: 47, isSupported: true)) == .unsupportedFeatureOrParameter)
    }

    @Test func configurationsThatCannotBe() throws {
        let scene = try SoundingPair()
        #expect(scene.initiator.send(scene.create()) == .commandDisallowed)
        scene.initiator.send(LECSReadRemoteSupportedCapabilities(handle: scene.pair.centralHandle))
        scene.pair.world.run(.seconds(1))
        let cases: [(HCIStatus, (inout LESoundingConfiguration) -> Void)] = [
            (.invalidParameters, { $0.mainMode = 0 }), (.invalidParameters, { $0.mainMode = 4 }),
            (.invalidParameters, { $0.subMode = 2 }), (.invalidParameters, { $0.mode0Steps = 0 }),
            (.invalidParameters, { $0.mode0Steps = 4 }), (.invalidParameters, { $0.mainModeRepetition = 4 }),
            (.invalidParameters, { $0.minMainModeSteps = 6 }), (.invalidParameters, { $0.mapRepetition = 0 }),
            (.invalidParameters, { $0.channelMap = [0xFC, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0] }),
            (.invalidParameters, { $0.channelMap = [0xFF, 0xFF, 0x7F, 0xFC, 0xFF, 0, 0, 0, 0, 0] }),
            (.unsupportedFeatureOrParameter, { $0.rttKind = 1 }), (.unsupportedFeatureOrParameter, { $0.syncPHY = 2 }),
            (.unsupportedFeatureOrParameter, { $0.channelSelection = 1 }),
        ]
        for (status, change) in cases {
            #expect(scene.initiator.send(scene.create(SoundingPair.settings(change))) == status)
        }
        #expect(scene.initiator.send(scene.create(config: 4)) == .invalidParameters)
        #expect(scene.initiator.send(scene.parameters()) == .invalidParameters)
        #expect(scene.enable() == .invalidParameters)
    }

    @Test("LL/CS/PER/REF/BV-36: a configuration that the central removes is gone at both ends")
    func aRemovedConfigurationIsGoneAtBothEnds() throws {
        let scene = try SoundingPair()
        scene.prepare()
        #expect(scene.initiator.send(LECSRemoveConfig(handle: scene.pair.centralHandle, config: 0)) == .success)
        scene.pair.world.run(.seconds(1))
        for host in [scene.initiator, scene.reflector] {
            #expect(host.events(LECSConfigComplete.self).map(\.isCreated) == [true, false])
        }
        #expect(scene.enable() == .invalidParameters)
    }

    @Test func theErrorTableOfThePeerIsRead() throws {
        let scene = try SoundingPair()
        #expect(scene.initiator.send(LECSReadRemoteFAETable(handle: scene.pair.centralHandle)) == .success)
        scene.pair.world.run(.seconds(1))
        let events = scene.initiator.events(LECSReadRemoteFAETableComplete.self)
        #expect(events.map(\.status) == [.success])
        #expect(events.first?.table == PacketBuffer([UInt8](repeating: 0, count: 72)))
    }

    @Test func outOfRangeTheSubeventIsAborted() throws {
        let scene = try SoundingPair()
        scene.prepare(count: 0)
        #expect(scene.enable() == .success)
        scene.pair.world.run(.milliseconds(600))
        scene.reflector.controller.node.position = Position(x: 100_000)
        scene.pair.world.run(.seconds(1))
        let last = try #require(scene.initiator.events(LECSSubeventResult.self).last)
        #expect(last.progress.subevent == .aborted)
        #expect(last.progress.abortReason == LESoundingProgress.noSync)
        #expect(last.steps.isEmpty)
    }

    @Test func oneSeedGivesTheSameResults() throws {
        func run(_ seed: UInt64) throws -> [LESoundingStep] {
            let scene = try SoundingPair(LinkLayerWorld(seed: seed))
            scene.prepare()
            #expect(scene.enable() == .success)
            scene.pair.world.run(.seconds(2))
            return scene.steps(scene.initiator)
        }
        let first = try run(7)
        #expect(try run(7) == first)
        #expect(try run(8) != first)
    }

    @Test func aLinkWithDataKeepsItsEvents() throws {
        let scene = try SoundingPair()
        scene.prepare(count: 0)
        #expect(scene.enable() == .success)
        for _ in 0..<30 {
            scene.initiator.send([UInt8](repeating: 1, count: 200), on: scene.pair.centralHandle)
            scene.pair.world.run(.milliseconds(100))
        }
        // Eight fragments of 27 octets each.
        #expect(scene.reflector.data.count == 240)
        #expect(scene.pair.centralLink != nil)
    }
}

/// The ways of a signal.
@Suite struct SoundingPathTests {
    private func radio(_ walls: [Wall]) -> Radio {
        var configuration = Radio.Configuration()
        configuration.walls = walls
        return Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1), configuration: configuration)
    }

    @Test func inFreeSpaceThereIsOneWay() {
        let paths = radio([]).soundingPaths(from: Position(), to: Position(x: 3, y: 4)).paths
        #expect(paths.map(\.length) == [5])
    }

    @Test func aWallBesideTheWayReflects() throws {
        let wall = Wall(from: Position(x: -10, y: 4), to: Position(x: 10, y: 4))
        let paths = radio([wall]).soundingPaths(from: Position(), to: Position(x: 6)).paths
        #expect(paths.count == 2)
        // By the law of mirrors: 6 m along, and 8 m away from the mirrored end.
        #expect(abs(paths[1].length - 10) < 1e-9)
        #expect(paths[1].isInverted)
        #expect(paths[1].gain < paths[0].gain - SoundingPaths.reflectionLoss)
    }

    @Test func aWallBetweenOnlyWeakens() {
        let wall = Wall(from: Position(x: 3, y: -5), to: Position(x: 3, y: 5), attenuation: 12)
        let radio = radio([wall])
        let paths = radio.soundingPaths(from: Position(), to: Position(x: 6)).paths
        #expect(paths.count == 1)
        #expect(abs(paths[0].gain + radio.configuration.propagation.loss(over: 6) + 12) < 1e-9)
    }

    @Test func aWallThatEndsBeforeDoesNotReflect() {
        let wall = Wall(from: Position(x: 4, y: 4), to: Position(x: 10, y: 4))
        #expect(radio([wall]).soundingPaths(from: Position(), to: Position(x: 6)).paths.count == 1)
    }
}
