import BluetoothTypes
import HCI

@testable import CaptureStory

extension VerdictCase {
    private static let second = CaptureBench.second
    private static let other = BluetoothAddress(0xC0FF_EE00_0002, kind: .randomDevice)

    /// Captures without a failure, of which many look like one of ``broken``.
    static let healthy: [VerdictCase] = links + requests + security + controllers

    private init(healthy name: String, says: String..., make: @escaping @Sendable (inout CaptureBench) -> Void) {
        self.init(name, .succeeded, make: make)
        self.says = says
    }

    private init(healthyLink name: String, says: String..., make: @escaping @Sendable (inout CaptureBench) -> Void) {
        self.init(link: name, .succeeded, make: make)
        self.says = says
    }

    private static let links = [
        VerdictCase(healthy: "a session that this device ends", says: "6 requests", "this device disconnected after") {
            $0.connectAsAsked()
            $0.discover()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a link that this device ends at once") {
            $0.leave(after: 50_000)
        },
        VerdictCase(healthyLink: "a session that the peer ends", says: "the peer disconnected after") {
            $0.read()
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(healthyLink: "a short measurement, after which the peripheral leaves") {
            $0.notify(after: 100_000)
            $0.ends(.remoteUserTerminated, after: 50_000)
        },
        VerdictCase(healthy: "a peripheral that looks for services of its central, which has none") {
            $0.accept()
            $0.att([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28])
            $0.att([0x01, 0x10, 1, 0, 0x06], isSent: false)
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(healthy: "a central that looks in", says: "connected to this device", "the peer disconnected after")
        {
            $0.advertise(true)
            $0.accept()
            $0.ends(.remoteUserTerminated, after: 300_000)
        },
        VerdictCase(healthyLink: "a link that is still there", says: "still connected at the end") {
            $0.read()
        },
        VerdictCase(healthy: "a capture that begins in the middle of a link", says: "begins in the middle") {
            $0.att([0x0B, 3], isSent: false)
            $0.read()
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(healthyLink: "a capture that ends in the middle of a request") {
            $0.read()
            $0.att([0x0A, 5, 0])
        },
        VerdictCase(healthyLink: "0x3E, and then a connection") {
            $0.ends(.connectionFailedToBeEstablished, after: 200_000)
            $0.connectAsAsked()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthy: "a loss, and then a connection", says: "2 connections", "Recovered: nothing was received")
        {
            $0.connectAsAsked()
            $0.read()
            $0.ends(.connectionTimeout)
            $0.connectAsAsked()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "our own second Disconnect") {
            $0.read()
            $0.status(0x0406, [0x40, 0, 0x13])
            $0.command(0x0406, [0x40, 0, 0x13])
            $0.disconnect(.localHostTerminated)
            $0.event(0x0F, [0x02, 1, 0x06, 0x04])
        },
        VerdictCase(healthyLink: "a Disconnect that the lost peer does not acknowledge") {
            $0.read()
            $0.leave(reason: .connectionTimeout)
        },
        VerdictCase(healthy: "data that arrives after the end", says: "1 request", "this device disconnected after") {
            $0.connectAsAsked()
            $0.read()
            $0.leave()
            $0.att([0x52, 3, 0, 1])
        },
        VerdictCase(healthyLink: "parameters refused, and the peripheral stays") {
            $0.asksForParameters(isAccepted: false)
            $0.read()
            $0.leave(after: 20 * second)
        },
        VerdictCase(healthyLink: "parameters refused and then accepted, and the peripheral leaves") {
            $0.asksForParameters(isAccepted: false)
            $0.asksForParameters(isAccepted: true)
            $0.read()
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(healthy: "a request to connect that is cancelled at once") {
            $0.attempt()
            $0.complete(0x200E)
            $0.attemptEnds(.unknownConnection)
        },
        VerdictCase(healthy: "a request to any device, cancelled while another device is used") {
            $0.connectAsAsked(other)
            $0.attempt(nil)
            $0.read()
            $0.wait(20 * second)
            $0.complete(0x200E)
            $0.attemptEnds(.unknownConnection)
            $0.leave()
        },
        VerdictCase(healthy: "a cancellation that crosses the connection") {
            $0.attempt()
            $0.command(0x200E)
            $0.connect()
            $0.event(0x0E, [1, 0x0E, 0x20, 0x0C])
            $0.read()
            $0.leave()
        },
        VerdictCase(healthy: "a beacon", says: "without a connection") {
            $0.advertise(true, kind: 3)
            $0.wait(60 * second)
            $0.advertise(false)
        },
        VerdictCase(healthy: "advertising for a moment") {
            $0.advertise(true)
            $0.wait(2 * second)
            $0.advertise(false)
        },
        VerdictCase(healthy: "advertising, and then a connection") {
            $0.advertise(true)
            $0.wait(60 * second)
            $0.accept()
            $0.att([0x0A, 3, 0], isSent: false)
            $0.att([0x0B, 80])
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(healthy: "a scan", says: "1 device heard, and no connection") {
            $0.scan(true)
            $0.advertise(CaptureBench.peer, name: "Pulse")
            $0.wait(10 * second)
            $0.scan(false)
        },
        VerdictCase(healthy: "a scan for a moment") {
            $0.scan(true)
            $0.wait(second)
            $0.scan(false)
        },
    ]

    private static let requests = [
        VerdictCase(healthyLink: "a slow response") {
            $0.att([0x0A, 3, 0])
            $0.att([0x0B, 1], isSent: false, after: 25 * second)
            $0.leave()
        },
        VerdictCase(healthyLink: "this device leaves before the response") {
            $0.read()
            $0.att([0x0A, 5, 0])
            $0.leave(after: 10_000)
        },
        VerdictCase(healthyLink: "a command before a peer restarts for an update") {
            $0.read()
            $0.att([0x52, 3, 0, 1])
            $0.ends(.remoteUserTerminated, after: 100_000)
        },
        VerdictCase(healthyLink: "a read that needs a pairing, and has one", says: "paired") {
            $0.read(error: 0x05)
            $0.pair()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a read that needs a pairing, and succeeds on the next connection") {
            $0.read(error: 0x05)
            $0.pair()
            $0.leave(after: 10_000)
            $0.connectAsAsked()
            $0.enableEncryption()
            $0.encryptionChanges()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a long value, which ends with Invalid Offset") {
            $0.read()
            $0.request([0x0C, 3, 0, 22, 0], [0x01, 0x0C, 3, 0, 0x07])
            $0.request([0x0C, 4, 0, 22, 0], [0x01, 0x0C, 4, 0, 0x0B])
            $0.leave()
        },
        VerdictCase(healthyLink: "an MTU that is refused, and requests that work") {
            $0.request([0x02, 5, 2], [0x01, 0x02, 0, 0, 0x06])
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "an MTU that is cut off, and requests that work", says: "1 request") {
            $0.request([0x02, 5, 2], [0x03, 0xB9])
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "Read Multiple, which the peer does not know, and reads in its place") {
            $0.request([0x20, 3, 0, 5, 0], [0x01, 0x20, 0, 0, 0x06])
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a service that the peer does not have, and others") {
            $0.request([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0D, 0x18], [0x01, 0x06, 1, 0, 0x0A])
            $0.request([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0F, 0x18], [0x07, 1, 0, 5, 0])
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a peer without the Generic Attribute service") {
            $0.request([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x01, 0x18], [0x01, 0x06, 1, 0, 0x0A])
            $0.leave()
        },
        VerdictCase(healthyLink: "services that change once") {
            $0.discover(0x2A05, properties: 0x20)
            $0.att([0x1D, 3, 0, 1, 0, 0xFF, 0xFF], isSent: false)
            $0.att([0x1E])
            $0.discover(0x2A05, properties: 0x20)
            $0.leave()
        },
        VerdictCase(healthyLink: "a database out of sync, and a discovery") {
            $0.read(error: 0x12)
            $0.discover()
            $0.leave()
        },
        VerdictCase(healthyLink: "a subscription with values", says: "3 values") {
            $0.discover()
            $0.subscribe()
            for _ in 0..<3 { $0.notify(after: 20 * second) }
            $0.leave()
        },
        VerdictCase(healthyLink: "a subscription for a moment") {
            $0.discover()
            $0.subscribe()
            $0.leave(after: 2 * second)
        },
        VerdictCase(healthyLink: "a subscription to the battery level, which does not change") {
            $0.discover(0x2A19)
            $0.subscribe()
            $0.leave(after: 60 * second)
        },
        VerdictCase(healthyLink: "a channel that needs encryption, and opens with it") {
            $0.openChannel(result: 5)
            $0.pair()
            $0.openChannel(result: 0)
            $0.leave()
        },
        VerdictCase(healthyLink: "enhanced bearers that the peer does not have") {
            $0.signal(0x17, [0x27, 0, 64, 0, 64, 0, 8, 0, 0x40, 0], isSent: true)
            $0.signal(0x18, [64, 0, 64, 0, 0, 0, 2, 0], isSent: false)
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "enhanced bearers that the peer does not have, as BlueZ asks for them") {
            $0.signal(0x14, [0x27, 0, 0x40, 0, 64, 0, 64, 0, 8, 0], isSent: true)
            $0.signal(0x15, [0, 0, 0, 0, 0, 0, 0, 0, 2, 0], isSent: false)
            $0.read()
            $0.leave()
        },
    ]

    private static let security = [
        VerdictCase(healthyLink: "a pairing that the user takes 25 s for", says: "paired") {
            $0.beginPairing(passkey: true)
            $0.smp([3] + [UInt8](repeating: 1, count: 16), isSent: true, after: 25 * second)
            $0.enableEncryption()
            $0.encryptionChanges()
            $0.leave()
        },
        VerdictCase(healthyLink: "a wrong passkey, and then the right one") {
            $0.beginPairing(passkey: true)
            $0.smp([5, 4], isSent: false)
            $0.pair()
            $0.leave()
        },
        VerdictCase(healthyLink: "a wrong passkey, and the right one on the next connection") {
            $0.beginPairing(passkey: true)
            $0.smp([5, 4], isSent: false)
            $0.leave()
            $0.connectAsAsked()
            $0.pair()
            $0.leave()
        },
        VerdictCase(healthyLink: "a bond that the peer has lost, and a new pairing") {
            $0.enableEncryption()
            $0.encryptionChanges(6)
            $0.pair()
            $0.leave()
        },
        VerdictCase(healthyLink: "a short key that is enough") {
            $0.beginPairing(keySize: 7)
            $0.enableEncryption()
            $0.encryptionChanges(keySize: 7)
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a Security Request, and encryption") {
            $0.smp([0x0B, 1], isSent: false)
            $0.enableEncryption()
            $0.encryptionChanges()
            $0.leave(after: 40 * second)
        },
    ]

    private static let controllers = [
        VerdictCase(healthy: "commands that the controller does not know") {
            $0.complete(0x2074, [32, 1], status: 0x01)
            $0.complete(0x2024, [251, 0, 0x48, 8], status: 0x11)
            $0.connectAsAsked()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthy: "a scan with a controller that knows no more", says: "1 device heard") {
            $0.complete(0x2074, [32, 1], status: 0x01)
            $0.scan(true)
            $0.advertise(CaptureBench.peer, name: "Pulse")
            $0.scan(false)
        },
        VerdictCase(healthy: "a request to connect that is disallowed during a scan, and repeated") {
            $0.scan(true)
            $0.attempt(status: 0x0C)
            $0.scan(false)
            $0.connectAsAsked()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthy: "a filter accept list that is full, and connections all the same") {
            $0.complete(0x2011, [1] + CaptureBench.peer.littleEndianBytes, status: 0x07)
            $0.connectAsAsked()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthy: "a scan that is stopped although it does not run") {
            $0.scan(false, status: 0x0C)
            $0.connectAsAsked()
            $0.leave()
        },
        VerdictCase(healthy: "a reset when the host starts") {
            $0.reset()
            $0.connectAsAsked()
            $0.read()
            $0.leave()
        },
        VerdictCase(healthyLink: "a reset when Bluetooth is switched off") {
            $0.read()
            $0.reset()
        },
        VerdictCase(healthy: "a link of BR/EDR", says: "without a connection") {
            $0.event(0x03, [0, 0x40, 0, 1, 2, 3, 4, 5, 6, 1, 0])
            $0.pdu(1, [0x02, 1, 4, 0, 1, 0, 0x40, 0], isSent: true)
            $0.ends(.connectionTimeout)
        },
    ]
}
