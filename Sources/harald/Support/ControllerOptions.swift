import ArgumentParser
import BluetoothService
import EventLoops
import GAP
import HCI
import HCIHost
import HCITransports
import Logging

extension ControllerAddress: ExpressibleByArgument {
    /// Reads the address as written on the command line; nil for one that names no controller.
    public init?(argument: String) {
        guard let address = try? ControllerAddress(argument) else { return nil }
        self = address
    }
}

/// What commands that work on a controller have in common.
struct ControllerOptions: ParsableArguments {
    @Option(
        help: """
            The controller: hci0 for an adapter of this machine, which harald controllers lists; usb for one on USB that is taken from the \
            kernel's driver, or usb:1209:0b1e or usb:1-2 for that one; tcp:HOST:PORT for one that speaks \
            H4 over TCP. Without it, the first adapter that can be had.
            """
    )
    var controller = ControllerAddress.adapter(.first)

    @Option(help: "Write all HCI packets to this btsnoop file, which is made anew for you alone: the keys are in it.")
    var capture: String?

    func captureFile() throws(ToolError) -> CaptureFile? {
        guard let capture else { return nil }
        return try CaptureFile.named(capture)
    }

    /// The line to the controller, with the capture in between. On the loop.
    func open(
        _ address: ControllerAddress,
        loop: NIOEventLoop,
        capture: CaptureFile?,
        finder: AdapterFinder = AdapterFinder()
    ) -> any HCITransport {
        let transport = ControllerTransport(address, loop: loop, finder: finder)
        guard let capture else { return transport }
        return SnoopingTransport.toFile(capture, transport, end: .host, loop: loop)
    }

    /// A device of the host stack alone on the controller. On the loop.
    func startAccess(loop: NIOEventLoop, capture: CaptureFile?) -> GenericAccess {
        let happenings = HappeningSink.log(Logger(label: "harald"))
        let transport = open(controller, loop: loop, capture: capture)
        let host = HCIHost(transport: transport, loop: loop, happenings: happenings)
        let access = GenericAccess(host: host, loop: loop, random: RandomSource(), happenings: happenings)
        access.start()
        return access
    }

    /// A whole Bluetooth system on the controller. When it fails, that is the outcome.
    func startSystem(
        named name: String,
        trust: TrustOptions? = nil,
        loop: NIOEventLoop,
        capture: CaptureFile?,
        outcome: Outcome
    ) -> LoopBound<BluetoothSystem> {
        var configuration = SystemConfiguration()
        configuration.deviceName = name
        if let trust {
            configuration.pairing = trust.configuration
            if let store = trust.store { configuration.keep(in: store) }
        }
        return startSystem(configuration, loop: loop, capture: capture, outcome: outcome)
    }

    /// A whole Bluetooth system on the controller. When it fails, that is the outcome, unless the system `waits` for one that works.
    func startSystem(
        _ configuration: SystemConfiguration,
        waits: Bool = false,
        finder: AdapterFinder = AdapterFinder(),
        loop: NIOEventLoop,
        logger: Logger = Logger(label: "harald"),
        capture: CaptureFile?,
        outcome: Outcome
    ) -> LoopBound<BluetoothSystem> {
        let options = self
        let address = controller
        return loop.make {
            let system = BluetoothSystem(
                controllers: ControllerSource { options.open(address, loop: loop, capture: capture, finder: finder) },
                loop: loop,
                random: RandomSource(),
                configuration: configuration,
                logger: logger
            )
            system.onFailure = { [weak system] error in
                let failure = ToolError(error, controller: "\(address)")
                guard waits || system?.hasWorked == true else { return outcome.finish(.failure(failure)) }
                let text = "\(failure.description); waiting for the controller to come back"
                // A service waits for no terminal.
                waits ? logger.error("\(text)") : Console.problem("harald: \(text)")
            }
            // A service without its store would forget at its end what its apps were told is kept.
            if waits, let place = system.storeInUse {
                outcome.finish(.failure(.storeInUse(place)))
                return system
            }
            system.start()
            return system
        }
    }
}
