import BluetoothTypes
import EventLoops
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// The prompts that users get, between complete devices.
@Suite struct PromptTests {
    @Test func aPromptIsClosedWhenItsLinkDies() throws {
        let pair = try SecurePair()
        pair.central.person.decide = { _ in nil }
        try pair.connect()
        var result: Result<Void, SecurityError>?
        try #require(pair.central.link).secureLink.secure(.encrypted) { result = $0 }
        pair.world.run { !pair.central.person.prompts.isEmpty }
        #expect(pair.central.person.closed.isEmpty)
        pair.disconnect()
        #expect(result?.error == .linkLost)
        #expect(pair.central.person.closed.count == 1)
        #expect(pair.peripheral.bonds.bonds.isEmpty)
    }

    @Test func unansweredPromptsFailThePairing() throws {
        let pair = try SecurePair()
        pair.peripheral.person.decide = { _ in nil }
        try pair.connect()
        #expect(try pair.secure(.central)?.isSuccess == false)
        #expect(pair.peripheral.failures == [.pairing(.timedOut)])
        #expect(pair.peripheral.person.closed.count == 1)
        #expect(pair.central.bonds.bonds.isEmpty)
        #expect(pair.peripheral.bonds.bonds.isEmpty)
    }

    @Test func aPasskeyIsShownAndTyped() throws {
        var display = PairingConfiguration()
        display.ioCapability = .displayOnly
        let pair = try SecurePair(central: display)
        try pair.connect()
        #expect(try pair.secure(.peripheral, .authenticated)?.isSuccess == true)
        guard case .showPasskey? = pair.central.person.prompts.first else {
            Issue.record("\(pair.central.person.prompts)")
            return
        }
        #expect(pair.central.person.prompts.count == 1)
        #expect(pair.peripheral.person.prompts == [.enterPasskey])
        #expect(pair.central.person.closed.count == 1)
        #expect(pair.peripheral.bonds.bonds.first?.keys.level.isAuthenticated == true)
    }

    /// One device on consecutive links: a passkey that leaked once is not used again.
    @Test("AB-S13: passkeys are fresh on each link", arguments: [LERole.central, .peripheral])
    func passkeysAreFreshOnEachLink(shows: LERole) throws {
        var (display, keyboard) = (PairingConfiguration(), PairingConfiguration())
        (display.ioCapability, keyboard.ioCapability) = (.displayOnly, .keyboardOnly)
        let isCentral = shows == .central
        let pair = try SecurePair(central: isCentral ? display : keyboard, peripheral: isCentral ? keyboard : display)
        pair.device(isCentral ? .peripheral : .central).person.decide = { $0 == .enterPasskey ? .refuse : .accept }
        var passkeys: [UInt32] = []
        for _ in 0..<12 {
            try pair.connect()
            #expect(try pair.secure(.central, .authenticated)?.isSuccess == false)
            for case .showPasskey(let passkey) in pair.device(shows).person.prompts { passkeys.append(passkey) }
            for device in [pair.central, pair.peripheral] {
                device.deviceSecurity.resetBackOff()
                device.person.forget()
            }
            if pair.central.link != nil { pair.disconnect() }
        }
        #expect(passkeys.count == 12)
        #expect(Set(passkeys).count == 12)
    }

    /// Neither random numbers nor keys are requested from the controller: only its encryption is used.
    @Test("AB-H07: no pairing value comes from the controller")
    func noPairingValueComesFromTheController() throws {
        for legacy in [PairingConfiguration.Legacy.only, .whenPeerOffersNothingElse] {
            var configuration = PairingConfiguration()
            configuration.legacy = legacy
            let pair = try SecurePair(central: configuration, peripheral: configuration)
            try pair.bond(.authenticated)
            for log in [pair.central.device.log, pair.peripheral.device.log] {
                #expect(!log.contains(LERand.self))
                #expect(!log.contains(LEReadLocalP256PublicKey.self))
                #expect(!log.contains(LEGenerateDHKey.self))
                #expect(!log.contains(LEGenerateDHKeyV2.self))
            }
            #expect(pair.central.device.log.contains(LEEnableEncryption.self))
            #expect(pair.peripheral.device.log.contains(LELongTermKeyRequestReply.self))
        }
    }

    @Test func bothAreAskedToCompareTheSameNumber() throws {
        let pair = try SecurePair()
        try pair.connect()
        #expect(try pair.secure(.central)?.isSuccess == true)
        #expect(pair.central.person.prompts == pair.peripheral.person.prompts)
        guard case .compare? = pair.central.person.prompts.first else {
            Issue.record("\(pair.central.person.prompts)")
            return
        }
    }

    @Test func outOfBandDataSpareThePersonsOnce() throws {
        let pair = try SecurePair()
        let random = RandomSource(seed: 9)
        for (device, other) in [(pair.central, pair.peripheral), (pair.peripheral, pair.central)] {
            let data = try #require(OwnOutOfBandData(random: random))
            device.deviceSecurity.offerOutOfBand(data)
            other.deviceSecurity.expectOutOfBand(data.shared)
        }
        try pair.connect()
        #expect(try pair.secure(.central, .secureConnections)?.isSuccess == true)
        #expect(pair.central.person.prompts.isEmpty)
        #expect(pair.peripheral.person.prompts.isEmpty)
        #expect(pair.central.bonds.bonds.first?.keys.level.isAuthenticated == true)
        for device in [pair.central, pair.peripheral] { #expect(device.deviceSecurity.outOfBandOfNext == nil) }
        // The data were for that pairing only: in the next one the users are asked.
        for device in [pair.central, pair.peripheral] {
            try device.deviceSecurity.forget(try #require(device.bonds.bonds.first).identifier)
        }
        pair.world.run(.seconds(1))
        if pair.central.link != nil { pair.disconnect() }
        try pair.connect()
        #expect(try pair.secure(.central, .secureConnections)?.isSuccess == true)
        #expect(!pair.central.person.prompts.isEmpty)
        #expect(!pair.peripheral.person.prompts.isEmpty)
    }

    @Test func severalPeersAreAskedAboutInTurn() throws {
        let world = GAPWorld()
        let slip = Person.Slip(loop: world.loop)
        let server = try SecureDevice(world, slip: slip, pairing: PairingConfiguration())
        let clients = try (0..<3).map { _ in try SecureDevice(world, slip: slip, pairing: PairingConfiguration()) }
        let waiting = Waiting()
        server.deviceSecurity.prompter = waiting
        for client in clients {
            client.connect(to: server)
        }
        var results: [Bool] = []
        for client in clients {
            try #require(client.link).secureLink.secure(.encrypted) { results.append($0.isSuccess) }
        }
        world.run(.seconds(5))
        for number in 1...3 {
            #expect(waiting.opened == number)
            #expect(waiting.answers.count == number)
            waiting.answers.last?(.accept)
            world.run(.seconds(3))
        }
        #expect(results == [true, true, true])
        #expect(server.bonds.bonds.count == 3)
    }

    /// A user who leaves every prompt open until a test answers.
    private final class Waiting: PairingPrompter {
        var opened = 0
        var answers: [(PairingAnswer) -> Void] = []

        func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
            opened += 1
            answers.append(answer)
        }

        func closePrompt(_ peer: PromptedPeer) {}
    }
}
