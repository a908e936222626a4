import Accessories
import Administration
import BluetoothSimulation
import BluetoothTypes
import EventLoops
import Foundation
import RadioEnergy
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import Page

/// The world behind the page, without a page and without a clock.
@Suite struct LiveWorldTests {
    private func shown(_ world: LiveWorld) -> WorldSnapshot { WorldSnapshot(world, WorldPacer(), generation: 1) }

    @Test("the app loses the sensor that is dragged away, and finds it again")
    func drag() throws {
        let world = LiveWorld(seed: 7)
        world.advance(by: 5_000)
        #expect(shown(world).isConnected)
        #expect(shown(world).app.value?.hasSuffix(" bpm") == true)
        try world.perform(.move(.sensor, Position(x: 100)))
        #expect(!shown(world).isInRange)
        #expect(shown(world).range == 68.1)
        world.advance(by: 10_000)
        #expect(!shown(world).isConnected)
        #expect(shown(world).app.value == "")
        try world.perform(.move(.sensor, Position(x: 20)))
        world.advance(by: 20_000)
        #expect(shown(world).isConnected)
        #expect(world.screen.lines == ["searching", "found the sensor", "lost the sensor", "found the sensor"])
        let story = world.story.lines(from: 0).lines.map(\.text)
        #expect(story.contains("00:05.000 Heart Rate: moves to (100, 0)"))
        #expect(story.contains { $0.hasSuffix("the app shows: lost the sensor") })
    }

    @Test("behaviours 16.7, 16.8: in a world, a tool changes no accessories, which a saved test would not repeat")
    func toolsChangeNoAccessories() {
        let left = LiveWorld(seed: 7).phone.withSystem { system in
            let (app, belt) = (AppIdentity(name: "belts"), UUID())
            let accessory = SetUpAccessory(identifier: belt, name: "Belt", descriptor: AccessoryDescriptor())
            _ = system.apps.accessories.put(accessory, of: app)
            let tool = WorldTool(WorldOutlet(LoopBound(WorldOutlet.End(line: nil), loop: system.loop)))
            tool.handle(.received(Opening.tool(version: Hello.version).encoded()), system)
            for verb in [AccessoryVerb.rename("Mine"), .remove] {
                let message = ToolMessage.ask(number: 1, .accessory(belt, verb, name: "belts"))
                tool.handle(.received(message.encoded()), system)
            }
            return system.apps.accessories.accessories(of: app).map(\.name)
        }
        #expect(left == ["Belt"])
    }

    @Test("lines about the phone's system have the event that they tell, with its time")
    func events() throws {
        let world = LiveWorld(seed: 7)
        world.advance(by: 5_000)
        try world.perform(.move(.sensor, Position(x: 100)))
        world.advance(by: 5_000)
        let lines = world.story.lines(from: 0).lines
        let lost = try #require(lines.last { $0.text.contains("the link ended") && $0.text.contains("Phone") })
        #expect(lost.event > 0)
        #expect(lines.first { $0.text.contains("Heart Rate: moves to") }?.time == 5_000_000)
        #expect(lines.filter { $0.text.contains(" Heart Rate: ") }.allSatisfy { $0.event == 0 })
        #expect(lines.map(\.time) == lines.map(\.time).sorted())
        let numbers = lines.map(\.event).filter { $0 > 0 }
        #expect(Set(numbers).count == numbers.count)
    }

    @Test("the ledger of each device has all of its radio's time, and the app of the phone has a charge")
    func energy() throws {
        let world = LiveWorld(seed: 7)
        world.advance(by: 10_000)
        for (device, energy) in [(world.phone, world.phoneEnergy), (world.sensor.device, world.sensorEnergy)] {
            let report = energy.report
            #expect(report.usage.sending == .microseconds(device.airTime.sending))
            #expect(report.usage.listening == .microseconds(device.airTime.listening))
            #expect(report.elapsed == .seconds(10))
        }
        #expect(world.phoneEnergy.report.charge(of: LiveWorld.app) > .zero)
        #expect(!world.phoneEnergy.status.isEstimate)
        let power = try #require(shown(world).power)
        #expect(power.days > 0)
        #expect(power.averageMicroamperes > 0)
    }

    @Test("a wall, noise, jammed channels and a dropped link each end the link, and it comes back without them")
    func radio() throws {
        let wall = Wall(from: Position(x: 10, y: -50), to: Position(x: 10, y: 50), attenuation: 40)
        let deeds: [(WorldAct, WorldAct)] = [
            (.addWall(wall), .removeWall(0)), (.setNoise(-60), .setNoise(nil)),
            (.begin(DeviceFault(.lossy, 1)), .end(DeviceFault(.lossy, 1))),
            (.begin(DeviceFault(.outOfRange)), .end(DeviceFault(.outOfRange))),
        ]
        for (begin, end) in deeds {
            let world = LiveWorld(seed: 3)
            world.advance(by: 5_000)
            try world.perform(begin)
            world.advance(by: 15_000)
            #expect(!shown(world).isConnected, "\(begin)")
            try world.perform(end)
            world.advance(by: 25_000)
            #expect(shown(world).isConnected, "\(end)")
        }
    }

    @Test("a link that is dropped once ends and comes back by itself, and a saved test repeats both acts")
    func dropsOnce() throws {
        let world = LiveWorld(seed: 3)
        #expect(throws: WorldRefusal("there is no link to drop")) { try world.dropLink() }
        world.advance(by: 5_000)
        #expect(shown(world).encryption == "none")
        try world.dropLink()
        #expect(shown(world).isDropping)
        #expect(throws: WorldRefusal("the sensor loses packets already; end that first")) { try world.dropLink() }
        while shown(world).isConnected, world.milliseconds < 30_000 { world.advance(by: 100) }
        #expect(shown(world).faults.isEmpty)
        #expect(!shown(world).isDropping)
        #expect(shown(world).isAdvertising)
        #expect(shown(world).encryption == nil)
        world.advance(by: 25_000)
        #expect(shown(world).isConnected)
        #expect(world.screen.lines.suffix(2) == ["lost the sensor", "found the sensor"])
        #expect(world.deeds.map(\.act) == [.begin(DeviceFault(.lossy, 1)), .end(DeviceFault(.lossy, 1))])
        #expect(world.deeds[1].milliseconds - world.deeds[0].milliseconds < 10_000)
    }

    @Test("another loss of packets takes the place of one that drops the link, and lasts")
    func anotherLoss() throws {
        let world = LiveWorld(seed: 3)
        world.advance(by: 5_000)
        try world.dropLink()
        try world.perform(.begin(DeviceFault(.lossy, 0.9)))
        #expect(!shown(world).isDropping)
        world.advance(by: 10_000)
        #expect(shown(world).faults == ["lossy=0.9"])
    }

    @Test("each possible fault has a summary, and its number a unit and a range")
    func possibleFaults() throws {
        let faults = shown(LiveWorld(seed: 1)).possibleFaults
        #expect(faults.allSatisfy { !$0.summary.isEmpty })
        let late = try #require(faults.first { $0.name == "slow-answers" }?.number)
        #expect(late == .init(unit: "seconds", usual: 5, least: 0, most: 3_600))
        #expect(faults.first { $0.name == "reboot" }?.number == nil)
    }

    @Test("a jammed advertising channel is no other one, and each ends by itself")
    func jams() throws {
        let world = LiveWorld(seed: 1)
        for channel in 37...39 { try world.perform(.begin(DeviceFault(.jammedChannel, Double(channel)))) }
        world.advance(by: 10_000)
        #expect(!shown(world).isConnected)
        #expect(shown(world).faults == ["jammed-channel", "jammed-channel=38", "jammed-channel=39"])
        try world.perform(.end(DeviceFault(.jammedChannel, 38)))
        world.advance(by: 10_000)
        #expect(shown(world).isConnected)
        #expect(shown(world).faults == ["jammed-channel", "jammed-channel=39"])
    }

    @Test("the app is killed, suspended and opened again, and shows the battery that was drained")
    func app() throws {
        let world = LiveWorld(seed: 1)
        world.advance(by: 5_000)
        try world.perform(.begin(DeviceFault(.lowBattery, 5)))
        world.advance(by: 1_000)
        #expect(world.screen.lines.last == "the sensor's battery is at 5 %")
        try world.perform(.app(.suspend))
        #expect(shown(world).app.phase == "suspended")
        try world.perform(.app(.open))
        #expect(shown(world).app.phase == "foreground")
        try world.perform(.app(.forceQuit))
        world.advance(by: 1_000)
        #expect(shown(world).app == WorldSnapshot.App(name: "watch", phase: "notRunning", shows: nil, value: nil))
        #expect(throws: WorldRefusal("the app is not running; open it first")) { try world.perform(.app(.crash)) }
        try world.perform(.app(.open))
        world.advance(by: 10_000)
        #expect(shown(world).isConnected)
        // The first time, and after the end; not when it was only suspended.
        let opened = world.story.lines(from: 0).lines.map(\.text).filter { $0.hasSuffix("the user opens watch") }
        #expect(opened == ["00:00.000 Phone: the user opens watch", "00:07.000 Phone: the user opens watch"])
    }

    @Test("the app starts and ends a Live Activity, and the story has both")
    func liveActivity() throws {
        let world = LiveWorld(seed: 1)
        world.advance(by: 5_000)
        #expect(throws: WorldRefusal("the app has no Live Activity")) { try world.perform(.app(.endLiveActivity)) }
        try world.perform(.app(.startLiveActivity))
        try world.perform(.app(.leave))
        #expect(throws: WorldRefusal("a Live Activity starts only while the app is in the foreground")) {
            try world.perform(.app(.startLiveActivity))
        }
        world.advance(by: 1_000)
        try world.perform(.app(.endLiveActivity))
        let lines = world.story.lines(from: 0).lines.map(\.text).filter { $0.contains("Live Activity") }
        #expect(lines.count == 2 && lines.last?.hasSuffix("the Live Activity of the app ended") == true, "\(lines)")
    }

    @Test("the page is told what the sensor advertises")
    func advertised() {
        #expect(shown(LiveWorld(seed: 1)).devices.map(\.advertised) == [nil, ["Heart Rate (180D)"]])
    }

    @Test("a step goes on to the next event of the story, at a whole millisecond")
    func step() {
        let world = LiveWorld(seed: 1)
        let before = world.story.events
        #expect(world.step())
        #expect(world.story.events > before)
        let (times, events) = ((0..<20).map { _ in world.step() ? world.milliseconds : -1 }, world.story.events)
        #expect(times == times.sorted())
        #expect(events >= before + 20)
    }

    @Test("an act after steps has the same consequences as one at the same millisecond without steps")
    func actAfterSteps() throws {
        let (stepped, plain) = (LiveWorld(seed: 5), LiveWorld(seed: 5))
        for _ in 0..<30 {
            #expect(stepped.step())
            #expect(stepped.phone.world.now == .milliseconds(stepped.milliseconds))
        }
        plain.advance(by: stepped.milliseconds)
        for world in [stepped, plain] {
            try world.perform(.move(.sensor, Position(x: 90)))
            world.advance(by: 5_000)
        }
        #expect(stepped.milliseconds == plain.milliseconds)
        #expect(stepped.story.lines(from: 0).lines == plain.story.lines(from: 0).lines)
    }

    @Test("acts without effect are refused, and no test repeats them")
    func refusals() throws {
        let world = LiveWorld(seed: 1)
        let far = DeviceFault(.outOfRange)
        for act in [WorldAct.end(far), .removeWall(0), .begin(DeviceFault(.appKilled))] {
            #expect(throws: WorldRefusal.self) { try world.perform(act) }
        }
        try world.perform(.begin(far))
        #expect(throws: WorldRefusal.self) { try world.perform(.begin(far)) }
        #expect(world.deeds.count == 1)
    }

    @Test("a move brings back a sensor that was taken out of range, and a test repeats both")
    func moveBack() throws {
        let world = LiveWorld(seed: 1)
        let far = DeviceFault(.outOfRange)
        try world.perform(.begin(far))
        world.advance(by: 1_000)
        try world.perform(.move(.sensor, Position(x: 90)))
        #expect(shown(world).faults.isEmpty)
        #expect(shown(world).devices.last?.x == 90)
        #expect(world.deeds.map(\.act) == [.begin(far), .end(far), .move(.sensor, Position(x: 90))])
        let story = world.story.lines(from: 0).lines.map(\.text)
        #expect(
            story.suffix(2) == ["00:01.000 Heart Rate: is back at (40, 20)", "00:01.000 Heart Rate: moves to (90, 0)"]
        )
    }

    @Test("of the moves of a device at one instant, a test has the last")
    func thinning() throws {
        let world = LiveWorld(seed: 1)
        world.advance(by: 1_000)
        for x in 1...5 { try world.perform(.move(.sensor, Position(x: Double(x)))) }
        try world.perform(.move(.phone, Position(x: 6)))
        try world.perform(.move(.sensor, Position(x: 7)))
        world.advance(by: 1)
        try world.perform(.move(.sensor, Position(x: 8)))
        #expect(
            world.deeds.filter { !$0.isReplaced }.map(\.act) == [
                .move(.sensor, Position(x: 5)), .move(.phone, Position(x: 6)), .move(.sensor, Position(x: 7)),
                .move(.sensor, Position(x: 8)),
            ]
        )
    }

    @Test("the story names walls and noise, and has no flow control")
    func storyOfTheAir() throws {
        let world = LiveWorld(seed: 1)
        world.advance(by: 5_000)
        for act in [
            WorldAct.addWall(Wall(from: Position(x: 1), to: Position(x: 2.5), attenuation: 30)), .removeWall(0),
            .setNoise(-80), .setNoise(nil),
        ] { try world.perform(act) }
        let story = world.story.lines(from: 0).lines.map(\.text)
        #expect(
            story.suffix(4).map { $0.dropFirst(10) } == [
                "a wall of 30 dB from (1, 0) to (2.5, 0) appears", "a wall of 30 dB from (1, 0) to (2.5, 0) is removed",
                "noise of -80 dBm on all channels", "the noise ends",
            ]
        )
        #expect(!story.contains { $0.contains("credits returned") })
        #expect(story.contains { $0.contains("Heart Rate Measurement") })
    }

    @Test("a world whose app is opened later, at the same instant, has the same story, and one that is followed too")
    func openingLater() {
        let (plain, held) = (LiveWorld(seed: 9), LiveWorld(seed: 9, opensApp: false))
        held.withPhone { system in
            let conversation = ToolConversation(system: system, rights: .control) { _ in }
            conversation.handle(.ask(number: 1, .monitor(kinds: .max)))
            conversation.handle(.ask(number: 2, .packets))
            system.loop.schedule(after: .seconds(60)) { conversation.close() }
        }
        held.openApp()
        for world in [plain, held] { world.advance(by: 5_000) }
        #expect(plain.story.lines(from: 0).lines == held.story.lines(from: 0).lines)
    }

    @Test("walls, acts and lines are bounded")
    func bounds() throws {
        let world = LiveWorld(seed: 1)
        for _ in 0..<LiveWorld.maximumWalls { try world.perform(.addWall(Wall(from: Position(), to: Position()))) }
        #expect(throws: WorldRefusal.self) { try world.perform(.addWall(Wall(from: Position(), to: Position()))) }
        for number in world.deeds.count..<LiveWorld.maximumActs {
            try world.perform(.setNoise(-40 - Double(number % 50)))
        }
        #expect(throws: WorldRefusal.self) { try world.perform(.move(.phone, Position())) }
        for letter in 0..<(3 * StoryLog.maximumLines) {
            world.story.add(.changed(String(repeating: "x", count: letter % 7)), of: "\(letter)", at: .zero)
        }
        let (first, lines) = world.story.lines(from: 0)
        #expect(lines.count == StoryLog.maximumLines)
        #expect(first + lines.count == world.story.count)
    }

    @Test("values that repeat are one line, which changes with each of them")
    func repetition() throws {
        let world = LiveWorld(seed: 1)
        world.advance(by: 8_000)
        _ = world.story.takeChanges()
        #expect(world.story.takeChanges().lines.isEmpty)
        world.advance(by: 1_000)
        let (first, lines) = world.story.takeChanges()
        #expect(first < world.story.count)
        #expect(lines.contains { $0.text.contains("value notified") && $0.text.contains(" times until 00:0") })
    }

    @Test("faults of answers take the place of each other")
    func answers() throws {
        let world = LiveWorld(seed: 1)
        try world.perform(.begin(DeviceFault(.slowAnswers, 2)))
        try world.perform(.begin(DeviceFault(.noAnswers)))
        #expect(shown(world).faults == ["no-answers"])
        try world.perform(.begin(DeviceFault(.lossy, 0.2)))
        try world.perform(.begin(DeviceFault(.lossy, 0.3)))
        #expect(shown(world).faults == ["no-answers", "lossy=0.3"])
        try world.perform(.end(DeviceFault(.noAnswers)))
        #expect(shown(world).faults == ["lossy=0.3"])
    }
}

/// Messages of a page, of which nothing is known.
@Suite struct WorldMessageTests {
    private func command(_ json: String) throws -> WorldCommand {
        try JSONDecoder().decode(WorldMessage.self, from: Data(json.utf8)).command
    }

    @Test("messages become commands, with positions to a tenth of a metre")
    func commands() throws {
        #expect(try command(#"{"act":"run"}"#) == .run)
        #expect(try command(#"{"act":"speed","amount":0.1}"#) == .setSpeed(0.1))
        #expect(try command(#"{"act":"restart"}"#) == .restart(seed: nil))
        #expect(try command(#"{"act":"restart","text":"18446744073709551615"}"#) == .restart(seed: .max))
        #expect(
            try command(#"{"act":"move","device":"sensor","x":1.26,"y":-0.04}"#)
                == .act(.move(.sensor, Position(x: 1.3)))
        )
        #expect(try command(#"{"act":"goto","amount":1.2346}"#) == .goTo(1_235))
        #expect(try command(#"{"act":"noise"}"#) == .act(.setNoise(nil)))
        #expect(try command(#"{"act":"begin","text":"lossy=1"}"#) == .act(.begin(DeviceFault(.lossy, 1))))
        #expect(
            try command(#"{"act":"wall","x":0,"y":1,"x2":2,"y2":3,"amount":9}"#)
                == .act(.addWall(Wall(from: Position(y: 1), to: Position(x: 2, y: 3), attenuation: 9)))
        )
    }

    @Test(
        "what is no command is refused",
        arguments: [
            #"{}"#, #"{"act":"fly"}"#, #"{"act":"speed"}"#, #"{"act":"speed","amount":0}"#,
            #"{"act":"speed","amount":101}"#, #"{"act":"speed","amount":1e999}"#, #"{"act":"speed","amount":"1"}"#,
            #"{"act":"move","device":"sensor","x":1}"#, #"{"act":"move","x":1,"y":1}"#,
            #"{"act":"move","device":"world","x":1,"y":1}"#, #"{"act":"move","device":"phone","x":1000.1,"y":1}"#,
            #"{"act":"move","device":"phone","x":-1e300,"y":1}"#, #"{"act":"noise","amount":0}"#,
            #"{"act":"goto"}"#, #"{"act":"goto","amount":-1}"#, #"{"act":"goto","amount":1e9}"#,
            #"{"act":"goto","amount":"x"}"#,
            #"{"act":"begin"}"#, #"{"act":"begin","text":"gravity"}"#, #"{"act":"begin","text":"lossy=2"}"#,
            #"{"act":"begin","text":"jammed-channel=40"}"#, #"{"act":"end","text":"lossy=nan"}"#,
            #"{"act":"app","text":"fly"}"#, #"{"act":"wall","x":1,"y":1,"x2":1,"amount":1}"#,
            #"{"act":"wall","x":1,"y":1,"x2":1,"y2":1,"amount":1000}"#, #"{"act":"removeWall","amount":-1}"#,
            #"{"act":"removeWall","amount":1e18}"#, #"{"act":"restart","text":"-1"}"#,
            #"{"act":"restart","text":"18446744073709551616"}"#, #"[]"#, #"null"#, "",
        ]
    )
    func refused(_ json: String) {
        #expect(throws: (any Error).self) { try command(json) }
    }
}
