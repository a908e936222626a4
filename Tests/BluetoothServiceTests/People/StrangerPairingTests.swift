import AccessStandIns
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import SampleMessages
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService
@testable import SMP
@testable import Security

/// A phone between a sensor that its user's app needs to pair with, and strangers who pair again and again.
@Suite struct StrangerPairingTests {
    private static let secret: BluetoothUUID = 0xFF20

    /// Devices under addresses of their own, which connect to the phone one after the other and pair, for ever.
    private final class Strangers {
        private let loop: any EventLoop
        private var devices: [(device: GenericAccess, central: Central)] = []
        /// The devices without a link, in the order of their turns.
        private var waiting: [Int] = []
        private var isConnecting = false
        private let person = Agreeable()
        private(set) var pairings = 0

        init(_ count: Int, _ air: RadioWorld) {
            loop = air.world.loop
            for number in 0..<count {
                let device = air.bareDevice()
                device.deviceSecurity.configuration.ioCapability = .displayOnly
                device.deviceSecurity.prompter = person
                device.onLink = { [weak self] in self?.pair($0, number) }
                devices.append((device, Central(device)))
                waiting.append(number)
            }
        }

        /// Two that connect at once would collide.
        func next() {
            guard !isConnecting, !waiting.isEmpty else { return }
            isConnecting = true
            let isPhone = { (sighting: Sighting) in sighting.data.serviceUUIDs.contains(0x180F) }
            devices[waiting.removeFirst()].central.generalConnect(pick: isPhone) { [weak self] _ in
                self?.isConnecting = false
                self?.next()
            }
        }

        private func pair(_ link: AccessLink, _ number: Int) {
            pairings += 1
            link.onEnd = { [weak self] _ in
                self?.waiting.append(number)
                self?.next()
            }
            link.secureLink.pair { [weak link] _ in link?.terminate() }
        }
    }

    /// The user of the phone ignores strangers and agrees to what the app needs, after a second.
    private final class Crowd {
        let air = RadioWorld()
        let phone: BluetoothSystem
        let sensor: BluetoothSystem
        private let desks: [PromptDesk]
        private let central: TestManager
        private let door: TestManager
        private let peripheral: TestManager
        let strangers: Strangers
        private var tool: ToolConversation?
        private(set) var shown: [(at: Instant, question: PairingQuestion)] = []
        /// The prompts on the screen.
        private(set) var open: [UInt32: PairingQuestion] = [:]

        init(strangers count: Int) throws {
            phone = air.system("Phone")
            sensor = air.system("Sensor") { $0.pairing.ioCapability = .displayYesNo }
            desks = [PromptDesk(phone), PromptDesk(sensor, policy: try PolicyFile(parsing: Array("pair yes".utf8)))]
            let app = phone.openApp(AppIdentity(name: "com.example.Heart", owner: 1_000))
            let device = TestDevice(system: phone, controller: air.world.air.addController().0, world: air.world)
            central = device.manager(.central, of: app)
            door = air.world.manager(.peripheral, on: phone)
            peripheral = air.world.manager(.peripheral, on: sensor)
            let value = LocalCharacteristic(
                id: LocalAttributeID(2),
                uuid: StrangerPairingTests.secret,
                properties: 0x02,
                permissions: 4,
                value: [42]
            )
            let service = LocalService(
                id: LocalAttributeID(1),
                uuid: Example.service,
                isPrimary: true,
                characteristics: [value]
            )
            strangers = Strangers(count, air)
            try peripheral.publish(service, name: "Sensor")
            tool = ToolConversation(system: phone, rights: .control) { [unowned self] in hear($0) }
            tool?.handle(.ask(number: 1, .prompts))
        }

        /// Connects the app to the sensor, opens the door to the strangers, and returns a request for the secret.
        func start() throws -> Request {
            let peer = try central.find().identifier
            try central.connect(peer)
            let handle = try #require(central.explore(peer)[StrangerPairingTests.secret])
            try door.publish(Example.battery, name: "Phone")
            strangers.next()
            return .readCharacteristic(peer: peer, characteristic: handle)
        }

        func read(_ request: Request) throws -> Result<PacketBuffer, ServiceError> {
            try central.ask(request, "value", \.value)
        }

        private func hear(_ reply: ToolReply) {
            switch reply {
            case .prompt(let number, .pairing(let question)):
                shown.append((air.world.loop.now, question))
                open[number] = question
                guard question.origin != .peer else { return }
                air.world.loop.schedule(after: .seconds(1)) { [unowned self] in
                    open[number] = nil
                    tool?.handle(.answer(number: number, .accept))
                }
            case .promptClosed(let number): open[number] = nil
            case .answer, .event, .prompt, .goodbye: break
            }
        }
    }

    /// The time from the app's request to the prompt: what the exchange takes on the air.
    private static let timeout = Duration.seconds(2)

    @Test("AB-S16, AB-S18: while 100 strangers pair without end, the user is asked about the app's pairing at once")
    func aHundredStrangers() throws {
        let crowd = try Crowd(strangers: 100)
        let request = try crowd.start()
        crowd.air.world.run(.seconds(10))
        #expect(crowd.open.values.map(\.origin) == [.peer])
        let before = crowd.air.world.loop.now
        #expect(try crowd.read(request) == .success([42]))
        let asked = try #require(crowd.shown.first { $0.question.origin != .peer })
        #expect(asked.at - before < Self.timeout, "\(asked.at - before)")
        #expect(asked.question.origin == .apps([AppIdentity(name: "com.example.Heart", owner: 1_000)]))
        guard case .compare = asked.question.kind else { return #expect(Bool(false), "\(asked.question)") }
        #expect(crowd.phone.bondStatus.map(\.authenticated) == [true])
        // The stranger that the prompt replaced is on the screen again, for as long as its pairing waits.
        #expect(crowd.open.values.map(\.origin) == [.peer])
        crowd.air.world.run(PairingMachine.timeout * 2)
        #expect(crowd.shown.count { $0.question.origin != .peer } == 1)
        #expect(crowd.phone.bondStatus.count == 1)
        #expect(crowd.strangers.pairings > 500)
        print("100 strangers: \(crowd.strangers.pairings) pairings, the app's prompt after \(asked.at - before)")
        // All strangers together get a burst of pairings, and one a minute. A prompt may be shown twice.
        let budget = PairingBackOff.strangerBurst + 1
        #expect((2...budget + 1).contains(crowd.shown.count { $0.question.origin == .peer }), "\(crowd.shown)")
    }
}
