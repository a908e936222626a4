import BluetoothTypes
import EventLoops
import Foundation
import SMP
import SampleMessages
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// Two systems that pair for a protected value. A tool answers at one, and a policy decides at the other.
@Suite struct PairingByToolTests {
    private static let secret: BluetoothUUID = 0xFF20

    /// A phone whose app reads a protected value of a sensor, and a tool that answers the questions of pairing.
    private final class ToolPairing {
        let air = RadioWorld()
        let phone: BluetoothSystem
        let sensor: BluetoothSystem
        let desks: [PromptDesk]
        let app: InProcessConnection
        let central: TestManager
        private let peripheral: TestManager
        var asked: [PairingQuestion] = []
        /// The lines that monitors delivered.
        var lines: [String] = []
        var answer: (PairingQuestion) -> PersonAnswer = { _ in .accept }
        var answers: [Result<String, ServiceError>] = []
        private(set) var tool: ToolConversation?

        init(_ policy: String, hasTool: Bool = true) throws {
            phone = air.system("Phone")
            sensor = air.system("Sensor") { $0.pairing.ioCapability = .displayYesNo }
            desks = [
                PromptDesk(phone), PromptDesk(sensor, policy: try PolicyFile(parsing: Array(policy.utf8))),
            ]
            let declaration = AppDeclaration(backgroundModes: .central)
            app = phone.openApp(AppIdentity(name: "com.example.Heart"), declaring: declaration)
            let device = TestDevice(system: phone, controller: air.world.air.addController().0, world: air.world)
            central = device.manager(.central, of: app)
            let value = LocalCharacteristic(
                id: LocalAttributeID(2),
                uuid: PairingByToolTests.secret,
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
            peripheral = air.world.manager(.peripheral, on: sensor)
            try peripheral.publish(service, name: "Sensor")
            guard hasTool else { return }
            tool = ToolConversation(system: phone, rights: .control) { [unowned self] in hear($0) }
            tool?.handle(.ask(number: 1, .prompts))
            tool?.handle(.ask(number: 2, .monitor(kinds: .max)))
        }

        private func hear(_ reply: ToolReply) {
            switch reply {
            case .prompt(let number, .pairing(let question)):
                asked.append(question)
                air.world.loop.schedule(after: .seconds(1)) { [unowned self] in
                    tool?.handle(.answer(number: number, answer(question)))
                }
            case .event(2, let line): lines.append(line)
            case .answer(_, let result): answers.append(result)
            case .event, .prompt, .promptClosed, .goodbye: break
            }
        }

        /// Reads the protected value, in the foreground or in the background.
        func read(inBackground: Bool = false) throws -> Result<PacketBuffer, ServiceError> {
            let peer = try central.find().identifier
            try central.connect(peer)
            let handle = try #require(central.explore(peer)[PairingByToolTests.secret])
            if inBackground { app.happened(.left) }
            let request = Request.readCharacteristic(peer: peer, characteristic: handle)
            return try central.ask(request, "value", \.value)
        }
    }

    @Test(
        "behaviour 6.8: a tool compares a number for its user, and the other device pairs by policy",
        arguments: [
            false, true,
        ]
    )
    func aToolCompares(inBackground: Bool) throws {
        let pairing = try ToolPairing("pair peer=Nobody no\npair yes")
        #expect(try pairing.read(inBackground: inBackground) == .success([42]))
        let question = try #require(pairing.asked.first)
        guard case .compare(let number) = question.kind, pairing.asked.count == 1 else {
            return #expect(Bool(false), "\(pairing.asked)")
        }
        #expect(question.isInBackground == inBackground)
        #expect(question.peer != nil)
        let (bonds, devices) = (pairing.phone.bondStatus, pairing.phone.deviceStatus)
        #expect(bonds.map(\.authenticated) == [true])
        #expect(bonds.first?.identifier == question.peer)
        #expect(devices.first?.isBonded == true)
        #expect(pairing.sensor.bondStatus.count == 1)
        #expect(pairing.phone.status.links.first?.encryption == "authenticated")
        let shown = String(repeating: "0", count: 6 - "\(number)".count) + "\(number)"
        #expect(!pairing.lines.isEmpty)
        #expect(!pairing.lines.contains { $0.contains(shown) })
    }

    @Test("behaviour 6.12: a tool removes a bond, whose link ends, and gets the remaining ones")
    func aToolForgets() throws {
        let pairing = try ToolPairing("pair yes")
        #expect(try pairing.read() == .success([42]))
        let peer = try #require(pairing.phone.bondStatus.first?.identifier)
        pairing.tool?.handle(.ask(number: 9, .forgetBond(peer)))
        pairing.air.world.run(.seconds(1))
        #expect(pairing.answers == [.success("[]")])
        #expect(pairing.phone.bondStatus.isEmpty)
        #expect(pairing.phone.links.all.isEmpty)
    }

    @Test("AB-A14: pairing fails if the tool's user or the policy refuses, or if there is neither")
    func pairingFailsWithoutConsent() throws {
        let refused = try ToolPairing("pair yes")
        refused.answer = { _ in .refuse }
        let forbidden = try ToolPairing("pair app=* no\npair peer=x yes")
        let lonely = try ToolPairing("pair yes", hasTool: false)
        for pairing in [refused, forbidden, lonely] {
            guard case .failure = try pairing.read() else { return #expect(Bool(false)) }
            #expect(pairing.phone.bondStatus.isEmpty)
            #expect(pairing.sensor.bondStatus.isEmpty)
        }
        #expect(refused.asked.count == 1)
        #expect(lonely.asked.isEmpty)
    }
}
