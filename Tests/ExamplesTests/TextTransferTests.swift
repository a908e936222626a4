import BluetoothSimulation
import CoreBluetooth
import LinkLayer
import TestBasics
import Testing
import TextTransfer

@Suite struct TextTransferTests {
    private let world = SimulatedWorld(seed: 1)
    private let sent = Notes<TextSender.Report>()
    private let received = Notes<TextReceiver.Report>()

    private func launchSender(of text: String) -> (device: SimulatedDevice, app: TextSender) {
        let device = world.addDevice(named: "Sender")
        let app = device.launch("sender") { [sent] _ in
            TextSender(text: text, queue: DispatchQueue(label: "sender"), report: sent.add)
        }
        return (device, app)
    }

    private func launchReceiver(at position: Position = Position(x: 1)) -> (device: SimulatedDevice, app: TextReceiver)
    {
        let device = world.addDevice(named: "Receiver", at: position)
        let app = device.launch("receiver") { [received] _ in
            TextReceiver(queue: DispatchQueue(label: "receiver"), report: received.add)
        }
        return (device, app)
    }

    @Test("A text of many parts arrives complete, and both sides report it") func arrivesWhole() {
        let text = String(repeating: "Não há longe nem distância. ", count: 300)
        let sender = launchSender(of: text)
        let receiver = launchReceiver()
        world.run(for: .seconds(60)) { [received] in received.has(.disconnected) }
        withExtendedLifetime((sender.app, receiver.app)) {
            #expect(received.all == [.searching, .connected, .received(text), .disconnected])
            let parts = sent.all.compactMap { if case .sent(let parts) = $0 { parts } else { nil } }
            #expect(parts.count == 1 && parts[0] > 10)
            #expect(
                sent.all.filter { if case .sent = $0 { false } else { true } }.prefix(3) == [
                    .advertising, .subscribed, .unsubscribed,
                ]
            )
        }
    }

    @Test("A sender out of range is connected when it comes near") func comesNear() {
        let sender = launchSender(of: "hello")
        let receiver = launchReceiver(at: Position(x: 200))
        world.run(for: .seconds(20))
        #expect(received.all == [.searching])
        receiver.device.move(to: Position(x: 1))
        world.run(for: .seconds(20)) { [received] in received.has(.disconnected) }
        withExtendedLifetime((sender.app, receiver.app)) {
            #expect(received.all == [.searching, .connected, .received("hello"), .disconnected])
        }
    }

    @Test("A text interrupted by a lost link is sent again when the sender is back") func startsAnew() {
        let text = String(repeating: "0123456789", count: 3_000)
        let sender = launchSender(of: text)
        let receiver = launchReceiver()
        world.run(for: .seconds(20)) { [sent] in sent.has(.subscribed) }
        world.run(for: .milliseconds(200))
        #expect(!received.has(.received(text)))
        sender.device.move(to: Position(x: 5_000))
        world.run(for: .seconds(30)) { [received] in received.has(.disconnected) }
        sender.device.move(to: Position(x: 2))
        world.run(for: .seconds(90)) { [received] in received.has(.received(text)) }
        withExtendedLifetime((sender.app, receiver.app)) {
            #expect(received.all.prefix(4) == [.searching, .connected, .disconnected, .searching])
            #expect(received.has(.received(text)))
        }
    }
}
