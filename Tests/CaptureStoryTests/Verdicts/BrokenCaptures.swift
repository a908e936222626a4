import BluetoothTypes
import HCI
import Testing

@testable import CaptureStory

/// A capture, and the verdict on it.
struct VerdictCase: Sendable, CustomTestStringConvertible {
    let name: String
    var outcome = Verdict.Outcome.failed
    /// What the verdict says, in any of its lines.
    var says: [String] = []
    let make: @Sendable (inout CaptureBench) -> Void

    var testDescription: String { name }

    init(
        _ name: String,
        _ outcome: Verdict.Outcome = .failed,
        says: String...,
        make: @escaping @Sendable (inout CaptureBench) -> Void
    ) {
        (self.name, self.outcome, self.says, self.make) = (name, outcome, says, make)
    }

    /// A case that begins with a connection that this device has requested.
    init(
        link name: String,
        _ outcome: Verdict.Outcome = .failed,
        says: String...,
        make: @escaping @Sendable (inout CaptureBench) -> Void
    ) {
        self.init(name, outcome) { bench in
            bench.connectAsAsked()
            make(&bench)
        }
        self.says = says
    }

    var verdict: Verdict {
        var bench = CaptureBench()
        make(&bench)
        return bench.told().story.verdict()
    }
}

extension VerdictCase {
    private static let second = CaptureBench.second

    /// Captures in which something is broken in a known way.
    static let broken: [VerdictCase] = links + requests + security + controllers

    private static let links = [
        VerdictCase("supervision timeout", says: "out of range", "connection timeout (0x8)", "packet 16", "2.8]") {
            $0.connectAsAsked()
            $0.discover()
            $0.read()
            $0.ends(.connectionTimeout)
        },
        VerdictCase(link: "loss in the middle of a request", says: "keeping the connection", "out of range") {
            $0.att([0x0A, 3, 0])
            $0.ends(.connectionTimeout)
        },
        VerdictCase(link: "a peer that disconnects at once", says: "the peer disconnected at once", "(0x13)") {
            $0.ends(.remoteUserTerminated, after: 80_000)
        },
        VerdictCase("a peer that disconnects at once, each time", says: "at once", ", 3 times") {
            for _ in 0..<3 {
                $0.connectAsAsked()
                $0.ends(.remoteUserTerminated, after: 80_000)
            }
        },
        VerdictCase("a peer that is switched off", says: "the peer ended the connection: remote power off (0x15)") {
            $0.connectAsAsked()
            $0.read()
            $0.ends(.remotePowerOff)
        },
        VerdictCase(link: "a peer with low resources", says: "remote low resources (0x14)") {
            $0.ends(.remoteLowResources, after: 80_000)
        },
        VerdictCase("0x3E after the connection", says: "connecting to", "did not respond to the connection request") {
            $0.connectAsAsked()
            $0.ends(.connectionFailedToBeEstablished, after: 200_000)
        },
        VerdictCase("0x3E in place of a connection", says: "connecting to", "established (0x3e)") {
            $0.attempt()
            $0.attemptEnds(.connectionFailedToBeEstablished, after: 200_000)
        },
        VerdictCase("a link layer that does not respond", says: "link layer did not respond to a procedure", "2.34]") {
            $0.connectAsAsked()
            $0.read()
            $0.ends(.linkLayerResponseTimeout, after: 40 * second)
        },
        VerdictCase(link: "an instant that has passed", says: "instant passed (0x28)") {
            $0.ends(.instantPassed)
        },
        VerdictCase(link: "unacceptable parameters", says: "unacceptable connection parameters (0x3b)") {
            $0.ends(.unacceptableConnectionParameters)
        },
        VerdictCase(
            "parameters refused, and the peripheral leaves",
            says: "changing the parameters",
            "this device rejected",
            "Then: the peer disconnected"
        ) {
            $0.connectAsAsked()
            $0.read()
            $0.asksForParameters(isAccepted: false)
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase("a request to connect that no device answers", .fruitless, says: "no response for 10", "gave up") {
            $0.attempt()
            $0.wait(10 * second)
            $0.complete(0x200E)
            $0.attemptEnds(.unknownConnection)
        },
        VerdictCase("a request to connect until the capture ends", .fruitless, says: "connecting to", "capture ended") {
            $0.attempt()
            $0.wait(20 * second)
            $0.scan(true)
        },
        VerdictCase("advertising that no device connects to", .fruitless, says: "no device connected in 30") {
            $0.advertise(true)
            $0.wait(30 * second)
            $0.advertise(false)
        },
        VerdictCase("a scan that hears nothing", .fruitless, says: "scanning", "no advertisement was received in 10") {
            $0.scan(true)
            $0.wait(10 * second)
            $0.scan(false)
        },
    ]

    private static let requests = [
        VerdictCase(
            "a request without a response for 30 s",
            says: "reading 0x0003",
            "the peer did not respond within 30 s (packet 14",
            "3.3.3]",
            "Then: this device disconnected",
            "(packet 17"
        ) {
            $0.connectAsAsked()
            $0.discover()
            $0.att([0x0A, 3, 0])
            $0.leave(after: 30 * second)
        },
        VerdictCase("a request that is answered with nonsense", says: "30 s, but sent an unreadable PDU (opcode 0x2d)")
        {
            $0.connectAsAsked()
            $0.att([0x02, 185, 0])
            $0.att([0x2D, 185, 0], isSent: false)
            $0.att([0x01, 0x2D, 0, 0, 6])
            $0.leave(after: 30 * second)
        },
        VerdictCase(
            "services that are cut off, and a client that waits",
            says: "30 s, but sent an unreadable PDU (opcode 0x11)"
        ) {
            $0.connectAsAsked()
            $0.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 5, 0, 0, 0x18, 6, 0, 0xF, 0, 1])
            $0.leave(after: 30 * second)
        },
        VerdictCase(
            "services that are cut off, and a client that gives up",
            says: "the peer sent an unreadable PDU (opcode 0x11) in place of the response",
            "Then: this device disconnected"
        ) {
            $0.connectAsAsked()
            $0.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 5, 0, 0, 0x18, 6, 0, 0xF, 0, 1])
            $0.leave()
        },
        VerdictCase("a request without a response for 30 s, of the peer", says: "on request of", "this device did not")
        {
            $0.accept()
            $0.att([0x0A, 3, 0], isSent: false)
            $0.ends(.remoteUserTerminated, after: 30 * second)
        },
        VerdictCase("an indication without a confirmation for 30 s", says: "did not confirm within 30 s") {
            $0.accept()
            $0.att([0x1D, 3, 0, 1])
            $0.leave(after: 30 * second)
        },
        VerdictCase("a peer that disconnects in place of a response", says: "the peer disconnected before it responded")
        {
            $0.connectAsAsked()
            $0.read()
            $0.att([0x0A, 5, 0])
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(
            "a read without authentication",
            says: "insufficient authentication",
            "is not encrypted",
            "3.4.1.1]"
        ) {
            $0.connectAsAsked()
            $0.discover()
            $0.read(error: 0x05)
            $0.leave()
        },
        VerdictCase(link: "a write without encryption", says: "writing 0x0003", "insufficient encryption") {
            $0.discover()
            $0.write(error: 0x0F)
            $0.leave()
        },
        VerdictCase("a read that is not permitted", says: "reading 0x0003 Heart Rate Measurement", "read not permitted")
        {
            $0.connectAsAsked()
            $0.discover()
            $0.read(error: 0x02)
            $0.leave()
        },
        VerdictCase(link: "a write that is not permitted", says: "writing 0x0003", "write not permitted") {
            $0.write(error: 0x03)
            $0.leave()
        },
        VerdictCase(link: "a write without authorization", says: "insufficient authorization") {
            $0.write(error: 0x08)
            $0.leave()
        },
        VerdictCase(link: "a handle that the peer does not have", says: "invalid handle") {
            $0.read(0x77, error: 0x01)
            $0.leave()
        },
        VerdictCase(link: "an attribute that is not found", says: "attribute not found") {
            $0.read(0x77, error: 0x0A)
            $0.leave()
        },
        VerdictCase("a service that the peer does not have", says: "finding the service Heart Rate (180D)", "has no") {
            $0.connectAsAsked()
            $0.request([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0D, 0x18], [0x01, 0x06, 1, 0, 0x0A])
            $0.leave()
        },
        VerdictCase(link: "an application's error", says: "application error 0x81") {
            $0.write(error: 0x81)
            $0.leave()
        },
        VerdictCase(link: "an MTU that is refused", says: "exchanging the MTU with", "stays 23 octets") {
            $0.request([0x02, 5, 2], [0x01, 0x02, 0, 0, 0x06])
            $0.leave()
        },
        VerdictCase(link: "a key that is too short", says: "encryption key size too short, with a key of 56 bits") {
            $0.beginPairing(keySize: 7)
            $0.enableEncryption()
            $0.encryptionChanges(keySize: 7)
            $0.read(error: 0x0C)
            $0.leave()
        },
        VerdictCase("a channel that is refused", says: "opening a channel to PSM 0x0080", "no such PSM", "4.23]") {
            $0.connectAsAsked()
            $0.openChannel(result: 2)
            $0.leave()
        },
        VerdictCase(link: "services that change again and again", says: "its services changed 6 times") {
            for _ in 0..<6 {
                $0.discover(0x2A05, properties: 0x20)
                $0.att([0x1D, 3, 0, 1, 0, 0xFF, 0xFF], isSent: false, after: second)
                $0.att([0x1E])
            }
            $0.leave()
        },
        VerdictCase(
            "a subscription without values",
            .fruitless,
            says: "following Heart Rate Measurement",
            "no value was"
        ) {
            $0.connectAsAsked()
            $0.discover()
            $0.subscribe()
            $0.leave(after: 60 * second)
        },
    ]

    private static let security = [
        VerdictCase(link: "a MIC failure", says: "not authentic", "MIC failure (0x3d)") {
            $0.pair()
            $0.ends(.terminatedByMICFailure)
        },
        VerdictCase("a pairing that is refused", says: "pairing with", "pairing is not supported", "3.5.5]", "Then:") {
            $0.connectAsAsked()
            $0.smp([1, 3, 0, 9, 16, 3, 3], isSent: true)
            $0.smp([5, 5], isSent: false)
            $0.leave()
        },
        VerdictCase(link: "a wrong passkey", says: "a confirm value does not match, as with a wrong passkey") {
            $0.beginPairing(passkey: true)
            $0.smp([5, 4], isSent: false)
            $0.ends(.authenticationFailure, after: 100_000)
        },
        VerdictCase(
            "a pairing that the user cancels",
            says: "this device ended the pairing: the passkey was not entered"
        ) {
            $0.connectAsAsked()
            $0.beginPairing(passkey: true)
            $0.smp([5, 1], isSent: true)
            $0.leave()
        },
        VerdictCase(
            "a pairing that times out",
            says: "the peer did not go on within 30 s (packet 4",
            "Part H 3.4]",
            "Then:"
        ) {
            $0.connectAsAsked()
            $0.smp([1, 3, 0, 9, 16, 3, 3], isSent: true)
            $0.leave(after: 30 * second)
        },
        VerdictCase(link: "a peer that leaves in the middle of a pairing", says: "in the middle of the pairing") {
            $0.beginPairing()
            $0.ends(.remoteUserTerminated)
        },
        VerdictCase(link: "a refused read, and then a refused pairing", says: "pairing with", "cannot be achieved") {
            $0.read(error: 0x05)
            $0.beginPairing()
            $0.smp([5, 3], isSent: false)
            $0.leave()
        },
        VerdictCase("a bond that the peer has lost", says: "no longer has the key", "PIN or key missing (0x6)", "Then:")
        {
            $0.connectAsAsked()
            $0.enableEncryption()
            $0.encryptionChanges(6)
            $0.leave(after: 100_000)
        },
        VerdictCase(link: "a peer that leaves since it has no key", says: "has no key", "PIN or key missing (0x6)") {
            $0.enableEncryption()
            $0.ends(.pinOrKeyMissing, after: 100_000)
        },
        VerdictCase("a bond that this device has lost", says: "this device has no key", "7.8.26]") {
            $0.accept()
            $0.complete(0x201B, [0x40, 0])
            $0.ends(.pinOrKeyMissing, after: 100_000)
        },
    ]

    private static let controllers = [
        VerdictCase("a request to connect that is disallowed", says: "connecting to", "command disallowed (0xc)") {
            $0.attempt(status: 0x0C)
        },
        VerdictCase("a controller without memory", says: "LE Add Device To Filter Accept List", "memory capacity") {
            $0.complete(0x2011, [1] + CaptureBench.peer.littleEndianBytes, status: 0x07)
        },
        VerdictCase("advertising that is refused", says: "advertising", "memory capacity exceeded (0x7)") {
            $0.advertise(true, status: 0x07)
        },
        VerdictCase("a scan that is refused", says: "scanning", "command disallowed (0xc)") {
            $0.scan(true, status: 0x0C)
        },
        VerdictCase("a limit of connections", says: "connecting to", "connection limit exceeded (0x9)") {
            $0.attempt(status: 0x09)
        },
        VerdictCase("a hardware error", says: "hardware error, code 3", "7.7.16]", "the reset of the controller ended")
        {
            $0.connectAsAsked()
            $0.read()
            $0.event(0x10, [3])
            $0.reset()
        },
        VerdictCase("a controller that never responds", .fruitless, says: "did not respond to any command (packet 1") {
            $0.command(0x0C03)
        },
        VerdictCase(
            "a controller that does not respond",
            says: "did not respond to LE Set Random Address for 4",
            "4.4]"
        ) {
            $0.command(0x2005, [1, 2, 3, 4, 5, 0xC0])
            $0.wait(4 * second)
            $0.reset()
        },
    ]
}
