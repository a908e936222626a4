import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import AppAdvice
@testable import BluetoothService

/// A tool follows the advice of a service.
@Suite struct AdviceStreamTests {
    /// A tool that is connected to the system of a device.
    private final class Tool: Sendable {
        let replies = Notes<ToolReply>()
        private let conversation: LoopBound<ToolConversation>

        init(_ device: SimulatedDevice, rights: ToolRights = .control, gives: Bool = true) {
            let replies = replies
            conversation = device.withSystem { system in
                if gives { system.adviceSource = { AdviceStream() } }
                return LoopBound(
                    ToolConversation(system: system, rights: rights) { replies.add($0) },
                    loop: system.loop
                )
            }
        }

        func say(_ message: ToolMessage) { conversation.with { $0.handle(message) } }

        func setRoom(_ hasRoom: Bool) { conversation.with { $0.canSend = hasRoom } }

        var advice: [AdviceStatus] {
            replies.all.compactMap { reply in
                guard case .event(number: 7, let text) = reply else { return nil }
                return try? JSONDecoder().decode(AdviceStatus.self, from: Data(text.utf8))
            }
        }

        var error: ServiceError? {
            guard case .answer(number: 7, .failure(let error))? = replies.all.last else { return nil }
            return error
        }
    }

    private let world = SimulatedWorld(seed: 1)

    private func launch(on device: SimulatedDevice) -> CBCentralManager {
        let manager = device.launch("tracker") { _ in
            CBCentralManager(delegate: nil, queue: DispatchQueue(label: "tracker"))
        }
        world.run(for: .seconds(1))
        #expect(manager.state == .poweredOn)
        return manager
    }

    @Test("a tool is told new advice within a second, and later counts of the same cause")
    func advice() {
        let device = world.addDevice(named: "Phone")
        let manager = launch(on: device)
        // Before the tool asks, nothing is followed.
        manager.scanForPeripherals(withServices: nil)
        world.run(for: .seconds(1))
        manager.stopScan()
        let tool = Tool(device)
        tool.say(.ask(number: 7, .advice))
        world.run(for: .seconds(2))
        #expect(tool.advice.isEmpty)

        let other = launch(on: device)
        other.scanForPeripherals(withServices: nil)
        world.run(for: .seconds(1))
        other.stopScan()
        other.scanForPeripherals(withServices: nil)
        world.run(for: .seconds(70))
        #expect(tool.advice.map { "\($0.rule) \($0.count)" } == ["12.3 1", "12.3 2", "12.4 1"])
        #expect(tool.advice.allSatisfy { $0.app == "tracker" && $0.manager == "central" && !$0.hint })
        tool.say(.stop(number: 7))
        let replies = tool.replies.all.count
        world.run(for: .seconds(70))
        #expect(tool.replies.all.count == replies)
        withExtendedLifetime((manager, other)) {}
    }

    @Test("a tool is told the manager and the peer of an advice, and its cost, at the time that has passed")
    func status() {
        let cost = AdviceCost(of: .link, microampereHours: 7, sending: .zero, listening: .zero, isEstimate: false)
        let stream = AdviceStream { $0.rule == .callOnce ? cost : nil }
        func accept(_ content: Observation.Content) {
            let subject = Observation.Subject(app: AppIdentity(name: "app"), manager: ManagerID(1))
            stream.accept(Observation(number: 1, time: .zero, cause: nil, subject: subject, content: content))
        }
        accept(.managerOpened(.central))
        let requests: [CentralRequest] = [
            .peer(.sensor, .connect(ConnectOptions())), .startScan(ScanRequest(services: [0x180D])),
        ]
        for request in requests {
            for _ in 0..<2 { accept(.requested(.central(request))) }
        }
        #expect(stream.kinds == [.managers, .messages, .misuse, .practices, .state])
        let news = stream.takeNews(at: .zero + .seconds(61), isLast: false)
        #expect(news.map(\.rule) == ["12.13", "12.13", "12.4"])
        #expect(news.map(\.manager) == ["central", "central", "central"])
        #expect(news.map(\.peer) == [.sensor, nil, nil])
        #expect(news.map { $0.cost?.microampereHours } == [7, 7, nil])
        #expect(news.map(\.time) == [0, 0, 61])
        #expect(stream.takeNews(at: .zero + .seconds(62), isLast: false) == [])
    }

    @Test("AB-G05: a tool that does not read gets the last counts only, when it reads again")
    func slowTool() {
        let device = world.addDevice(named: "Phone")
        let tool = Tool(device)
        tool.say(.ask(number: 7, .advice))
        tool.setRoom(false)
        let manager = launch(on: device)
        for _ in 0..<20 {
            manager.scanForPeripherals(withServices: nil)
            world.run(for: .seconds(2))
            manager.stopScan()
        }
        #expect(tool.advice.isEmpty)
        tool.setRoom(true)
        world.run(for: .seconds(2))
        #expect(tool.advice.map { "\($0.rule) \($0.count)" } == ["12.3 20"])
    }

    @Test("advice needs the right to control, and a service that gives it")
    func refusals() {
        let device = world.addDevice(named: "Phone")
        let looking = Tool(device, rights: .inspect)
        looking.say(.ask(number: 7, .advice))
        #expect(looking.error?.code == .core(.operationNotSupported))
        let bare = Tool(world.addDevice(named: "Other"), gives: false)
        bare.say(.ask(number: 7, .advice))
        #expect(bare.error?.reason == "this service gives no advice")
    }

    @Test("AB-G05: streams of advice count among those of a tool")
    func bound() {
        let tool = Tool(world.addDevice(named: "Phone"))
        for number in 100..<(100 + UInt32(ToolConversation.maximumStreams)) { tool.say(.ask(number: number, .advice)) }
        tool.say(.ask(number: 7, .advice))
        #expect(tool.error?.code == .core(.outOfSpace))
    }
}
