import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import LinkLayer

/// Creates a virtual controller for each connection. Lives on its loop.
final class ControllerOffer {
    /// The faults of the controllers, and the files for their packets.
    struct Options: Sendable {
        var quirks: Set<ControllerQuirk> = []
        /// Whether the controllers measure distances.
        var hasChannelSounding = false
        /// The folder for the HCI packets of each controller.
        var captureFolder: String?
        /// The file for all packets on the air.
        var air: CaptureFile?
    }

    let loop: NIOEventLoop
    private let random: RandomSource
    private let radio: Radio
    private let options: Options
    let report: ToolReport
    private var server: TCPServer?
    var dongles: [Dongle] = []
    private var controllers: [UInt64: VirtualController] = [:]
    private var numbers = ControllerNumbers()
    private var numbersOfNodes: [RadioNode.ID: UInt64] = [:]
    /// The capture of each number, which all its connections share. At most as many as were open at once.
    private var captures: [UInt64: CaptureFile] = [:]

    init(loop: NIOEventLoop, random: RandomSource, options: Options, report: ToolReport) {
        self.loop = loop
        self.random = random
        self.options = options
        self.report = report
        radio = Radio(loop: loop, random: random.split(0))
        if let air = options.air { capture(to: air) }
    }

    private func capture(to air: CaptureFile) {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: CaptureFile.unixMicrosecondsAtZero(of: loop))
        var names = AdvertisedNames()
        air.write(writer.header)
        radio.addSniffer().onFrame = { [weak self] sniffed in
            names.learn(from: sniffed)
            let name = self?.name(of: sniffed.sender, advertised: names[sniffed.sender])
            air.write(writer.record(sniffed, from: name))
        }
    }

    private func name(of sender: RadioNode.ID, advertised: String?) -> String? {
        guard let number = numbersOfNodes[sender] else { return advertised }
        return advertised.map { "\($0) (controller \(number))" } ?? "controller \(number)"
    }

    func listen(port: Int, completion: @escaping (Result<Int, ToolError>) -> Void) {
        TCPServer.listen(
            port: port,
            loop: loop,
            onConnection: { [weak self] in self?.accept($0) },
            onRefusal: { [report] in
                report.say(
                    "connection refused: all \(TCPServer.maximumConnections) controllers of this port are in use; end a "
                        + "program that uses one, or start another `harald controllers`"
                )
            }
        ) { [weak self] in
            switch $0 {
            case .success(let server):
                self?.server = server
                completion(.success(server.port))
            case .failure(let error):
                let reason = if case .unreachable(_, let reason) = error { reason } else { "\(error)" }
                completion(.failure(.incomplete("cannot listen on port \(port): \(reason); choose another, or 0")))
            }
        }
    }

    /// Offers a controller behind a pseudoterminal, as long as the offer exists. Successive programs that open the
    /// terminal get the same controller number.
    func offerTerminal(_ kind: SerialProtocol) -> Bool {
        guard let terminal = PseudoTerminal() else { return false }
        let options = SerialOptions(path: terminal.path, rate: 115_200, isThreeWire: kind == .h5)
        report.show(ListeningDocument("\(ControllerAddress.serial(options))"))
        begin(terminal, kind)
        return true
    }

    private func begin(_ terminal: PseudoTerminal, _ kind: SerialProtocol) {
        ChannelLine.device(terminal.take(), place: terminal.path, loop: loop) { [weak self] result in
            guard let self, case .success(let line) = result else { return }
            let transport: any HCITransport =
                kind == .h5 ? ThreeWireTransport(line, waitsForPeer: true, loop: loop) : H4Transport(line)
            accept(transport) { [weak self] in self?.begin(terminal, kind) }
        }
    }

    func accept(_ line: any HCITransport, whenGone: @escaping () -> Void = {}) {
        let number = numbers.take()
        report.say("controller \(number) connected")
        let transport = snooping(line, number: number)
        // Within a few metres of each other.
        let node = radio.add(at: Position(x: Double(number % 8), y: Double(number / 8 % 8)))
        numbersOfNodes[node.id] = number
        var kind = VirtualControllerConfiguration(
            publicAddress: .init(0x0248_5243_0000 + number, kind: .publicDevice)
        )
        kind.quirks = options.quirks
        if options.hasChannelSounding { kind.addChannelSounding() }
        controllers[number] = VirtualController(
            transport: transport,
            node: node,
            loop: loop,
            random: random.split(number),
            configuration: kind
        )
        let controllerClosed = transport.onClose
        transport.onClose = { [weak self, report] error in
            controllerClosed?(error)
            self?.controllers[number] = nil
            self?.numbersOfNodes[node.id] = nil
            self?.numbers.release(number)
            // A program that just ends is no news.
            let reason = error == .closedByPeer ? "" : ": \(error)"
            report.say("controller \(number) disconnected\(reason)")
            whenGone()
        }
    }

    private func snooping(_ line: any HCITransport, number: UInt64) -> any HCITransport {
        guard let captureFolder = options.captureFolder else { return line }
        let path = (captureFolder as NSString).appendingPathComponent("controller-\(number).btsnoop")
        do throws(ToolError) {
            // Not `??`, whose right side throws untyped errors.
            let file = if let begun = captures[number] { begun } else { try CaptureFile.named(path) }
            captures[number] = file
            return SnoopingTransport.toFile(file, line, end: .controller, loop: loop)
        } catch {
            _ = error.report()
            return line
        }
    }
}

/// Where virtual controllers are offered.
struct ListeningDocument: ReportDocument {
    static let event = "listening"

    /// The address for `--controller`.
    let listening: String
    /// The TCP port; nil for a terminal.
    var port: Int?

    init(_ listening: String, port: Int? = nil) {
        self.listening = listening
        self.port = port
    }
}

extension ToolReport {
    func show(_ document: ListeningDocument) { show(document, as: "listening on \(document.listening)") }
}

/// Assigns numbers to controllers. A controller's address follows from its number.
///
/// Bonds belong to an address, so a controller that reconnects needs its former number. Released numbers are therefore
/// reused before new ones.
struct ControllerNumbers {
    private var taken: Set<UInt64> = []

    /// Assigns the lowest free number, from 1.
    mutating func take() -> UInt64 {
        var number: UInt64 = 1
        while taken.contains(number) { number += 1 }
        taken.insert(number)
        return number
    }

    mutating func release(_ number: UInt64) {
        taken.remove(number)
    }
}

/// Virtual controllers as kernel adapters.
extension ControllerOffer {
    /// Creates adapters, which exist as long as the offer does.
    func offer(adapters count: Int) throws(ToolError) {
        for _ in 0..<count {
            do throws(VirtualAdapter.Failure) {
                begin(try VirtualAdapter.make())
            } catch {
                throw .incomplete("cannot create an adapter: \(error)")
            }
        }
    }

    private func begin(_ made: VirtualAdapter.Made) {
        let name = "hci\(made.number)"
        UserChannelTransport.attach(
            made.descriptor,
            place: "vhci:\(name)",
            as: .controller,
            calls: LinuxCalls(ofDevice: true),
            loop: loop
        ) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let line):
                report.say("adapter \(name) created")
                accept(line) { [report] in report.say("adapter \(name) removed") }
            case .failure(let error): Console.problem("harald: \(name) cannot be used: \(error)")
            }
        }
    }
}
