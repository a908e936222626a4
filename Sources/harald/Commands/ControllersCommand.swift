import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import LinkLayer
import Radio

struct ControllersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "Virtual controllers over H4/TCP, one for each connection, all on one radio, until interrupted."
    )

    @Option(help: "The port to listen on, on the loopback interface; 0 lets the system choose.")
    var listen: UInt16

    @Option(help: "What the controllers' randomness follows from; without it, from the system.")
    var seed: UInt64?

    @Option(help: "Write the HCI packets of each controller to a btsnoop file in this folder.")
    var capture: String?

    func run() throws {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let (seed, port, folder) = (seed, Int(listen), capture)
        let offer = loop.make {
            let random = seed.map { RandomSource(seed: $0) } ?? RandomSource()
            return ControllerOffer(loop: loop, random: random, captureFolder: folder)
        }
        offer.with { offer in
            offer.listen(port: port) { result in
                switch result {
                case .success(let port): Console.line("listening on tcp:127.0.0.1:\(port)")
                case .failure(let error): outcome.finish(.failure(error))
                }
            }
        }
        do throws(ToolError) {
            try outcome.wait()
        } catch {
            throw error.report()
        }
    }
}

/// A virtual controller for each connection. Lives on its loop.
final class ControllerOffer {
    private let loop: NIOEventLoop
    private let random: RandomSource
    private let radio: Radio
    private let captureFolder: String?
    private var server: TCPServer?
    private var controllers: [UInt64: VirtualController] = [:]
    private var last: UInt64 = 0

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
                completion(.failure(.incomplete("cannot listen on port \(port): \(error); choose another")))
            }
        }
    }

    private func accept(_ line: TCPTransport) {
        last += 1
        let number = last
        Console.line("controller \(number) connected")
        let transport = snooping(line, number: number)
        controllers[number] = VirtualController(
            transport: transport,
            // Within a room of each other.
            node: radio.add(at: Position(x: Double(number % 8), y: Double(number / 8 % 8))),
            loop: loop,
            random: random.split(number),
            configuration: .init(publicAddress: .init(0x0248_5243_0000 + number, kind: .publicDevice))
        )
        let controllerClosed = transport.onClose
        transport.onClose = { [weak self] error in
            controllerClosed?(error)
            self?.controllers[number] = nil
            Console.line("controller \(number) disconnected")
        }
    }

    private func snooping(_ line: TCPTransport, number: UInt64) -> any HCITransport {
        guard let captureFolder else { return line }
        let path = (captureFolder as NSString).appendingPathComponent("controller-\(number).btsnoop")
        do throws(ToolError) {
            return SnoopingTransport.toFile(try CaptureFile.named(path), line, end: .controller, loop: loop)
        } catch {
            _ = error.report()
            return line
        }
    }
}
