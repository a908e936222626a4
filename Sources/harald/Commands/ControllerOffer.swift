import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIFraming
import HCITransports
import LinkLayer
import Radio

/// Creates a virtual controller for each connection. Lives on its loop.
final class ControllerOffer {
    let loop: NIOEventLoop
    private let random: RandomSource
    private let radio: Radio
    private let captureFolder: String?
    private var server: TCPServer?
    var dongles: [Dongle] = []
    private var controllers: [UInt64: VirtualController] = [:]
    private var numbers = ControllerNumbers()

    init(loop: NIOEventLoop, random: RandomSource, captureFolder: String?) {
        self.loop = loop
        self.random = random
        self.captureFolder = captureFolder
        radio = Radio(loop: loop, random: random.split(0))
    }

    func listen(port: Int, completion: @escaping (Result<Int, ToolError>) -> Void) {
        TCPServer.listen(port: port, loop: loop, onConnection: { [weak self] in self?.accept($0) }) { [weak self] in
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
        Console.line("listening on \(ControllerAddress.serial(options))")
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
        let (number, use) = numbers.take()
        Console.line("controller \(number) connected")
        let transport = snooping(line, number: number, use: use)
        controllers[number] = VirtualController(
            transport: transport,
            // Within a few metres of each other.
            node: radio.add(at: Position(x: Double(number % 8), y: Double(number / 8 % 8))),
            loop: loop,
            random: random.split(number),
            configuration: .init(publicAddress: .init(0x0248_5243_0000 + number, kind: .publicDevice))
        )
        let controllerClosed = transport.onClose
        transport.onClose = { [weak self] error in
            controllerClosed?(error)
            self?.controllers[number] = nil
            self?.numbers.giveBack(number)
            Console.line("controller \(number) disconnected")
            whenGone()
        }
    }

    private func snooping(_ line: any HCITransport, number: UInt64, use: Int) -> any HCITransport {
        guard let captureFolder else { return line }
        let name = use == 1 ? "controller-\(number)" : "controller-\(number).\(use)"
        let path = (captureFolder as NSString).appendingPathComponent("\(name).btsnoop")
        do throws(ToolError) {
            return SnoopingTransport.toFile(try CaptureFile.named(path), line, end: .controller, loop: loop)
        } catch {
            _ = error.report()
            return line
        }
    }
}
