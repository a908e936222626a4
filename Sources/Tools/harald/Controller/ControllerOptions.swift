import AppAdvice
import ArgumentParser
import BluetoothService
import BluetoothSimulation
import BluetoothTypes
import CapturePlayback
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import HCITransports
import Logging
import RadioEnergy
import ServiceProcess

extension ControllerAddress: ExpressibleByArgument {
    /// Parses an address from the command line. Returns nil if it is invalid.
    public init?(argument: String) {
        guard let address = try? ControllerAddress(argument) else { return nil }
        self = address
    }

    /// The text of the environment variable that names a controller, for the tool as for programs.
    static func variable(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        environment[EmbeddedService.controllerVariable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The controller that the environment names; nil if it names none, or an invalid one.
    static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> ControllerAddress? {
        variable(environment).flatMap { try? ControllerAddress($0) }
    }
}

/// The options of commands that use a controller.
struct ControllerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The controller: hci0 for an adapter of this machine, as listed by harald controllers; usb for a USB controller without the \
            kernel's driver, or usb:1209:0b1e or usb:1-2 for a specific one; tcp:HOST:PORT or unix:PATH for H4 over a socket; serial:PATH for a \
            serial port; capture:FILE to play back a btsnoop, pcapng, pcap or .pklg file as a controller (default: the one named by \
            HARALD_CONTROLLER, or the first usable adapter).
            """,
            valueName: "CONTROLLER"
        )
    )
    var controller: ControllerAddress?

    @Option(
        help: ArgumentHelp(
            "Write all HCI packets to this btsnoop file. It contains keys, so it is created anew and readable by you alone.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var capture: String?

    @Option(
        help: ArgumentHelp(
            "Write each departure from the capture that is played back to this file, as a line of JSON.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var departures: String?

    /// The controller to use: the one named by option, or in the environment, or the first usable adapter.
    var chosen: ControllerAddress { controller ?? ControllerAddress.ofEnvironment() ?? .adapter(.first) }

    func validate() throws {
        try ShellLine.refuse([
            ("--controller", controller != nil), ("--capture", capture != nil), ("--departures", departures != nil),
        ])
        if departures != nil, !chosen.isPlayback {
            throw ValidationError("--departures needs a capture as controller: --controller capture:FILE")
        }
        guard controller == nil, let text = ControllerAddress.variable() else { return }
        do throws(ControllerAddress.ParseError) {
            _ = try ControllerAddress(text)
        } catch {
            throw ValidationError("\(EmbeddedService.controllerVariable) is invalid: \(error)")
        }
    }

    /// Creates the capture file, if one is named. `inputs` are the files that the command reads besides.
    func captureFile(reading inputs: [String] = []) throws(ToolError) -> CaptureFile? {
        guard let capture else { return nil }
        return try CaptureFile.named(capture, reading: inputs + chosen.playedFiles)
    }

    /// Opens the transport to the controller, with the capture in between. On the loop only.
    func open(
        _ address: ControllerAddress,
        loop: NIOEventLoop,
        capture: CaptureFile?,
        finder: ControllerFinder = ControllerFinder(),
        onCaptureEnd: (@Sendable () -> Void)? = nil
    ) -> any HCITransport {
        let transport = ControllerTransport(address, loop: loop, finder: finder)
        if address.isPlayback {
            transport.onDeparture = DepartureReporter(departures, reading: address.playedFiles).report
        }
        transport.onCaptureEnd = onCaptureEnd
        guard let capture else { return transport }
        return SnoopingTransport.toFile(capture, transport, end: .host, loop: loop)
    }

    /// Starts the host stack, without a Bluetooth system, on the controller. On the loop only.
    func startAccess(loop: NIOEventLoop, capture: CaptureFile?) -> GenericAccess {
        let stackEvents = StackEventSink.log(Logger(label: "harald"))
        let transport = open(chosen, loop: loop, capture: capture)
        let host = HCIHost(transport: transport, loop: loop, stackEvents: stackEvents)
        let access = GenericAccess(host: host, loop: loop, random: RandomSource(), stackEvents: stackEvents)
        access.start()
        return access
    }

    /// Starts a Bluetooth system on the controller. A failure of the controller ends the command, unless it has worked
    /// before.
    func startSystem(
        named name: String,
        trust: TrustOptions? = nil,
        loop: NIOEventLoop,
        capture: CaptureFile?,
        outcome: Outcome
    ) -> LoopBound<BluetoothSystem> {
        var configuration = SystemConfiguration()
        configuration.deviceName = name
        trust?.configure(&configuration)
        return startSystem(configuration, loop: loop, capture: capture, outcome: outcome)
    }

    /// Starts a Bluetooth system on the controller. A failure of the controller ends the command, unless the controller
    /// has worked before or `waits` is set, and so does the end of a capture that is played back. With a radio profile,
    /// the system estimates what its apps cost the battery.
    func startSystem(
        _ configuration: SystemConfiguration,
        waits: Bool = false,
        energy: RadioProfile? = nil,
        answers: LoopBound<AnswerSwitch>? = nil,
        finder: ControllerFinder = ControllerFinder(),
        loop: NIOEventLoop,
        logger: Logger = Logger(label: "harald"),
        capture: CaptureFile?,
        outcome: Outcome
    ) -> LoopBound<BluetoothSystem> {
        let options = self
        let address = chosen
        return loop.make {
            let estimator = energy.map { EnergyEstimator($0, loop: loop) }
            let system = BluetoothSystem(
                controllers: ControllerSource {
                    let line = options.open(address, loop: loop, capture: capture, finder: finder) {
                        let error = ToolError.captureOver("\(address)")
                        // A service has apps, which may go on, and then the controller answers them.
                        waits ? logger.notice("\(error.description)") : outcome.finish(.failure(error))
                    }
                    let followed = estimator?.wrap(line) ?? line
                    return answers?.value.wrap(followed, loop) ?? followed
                },
                loop: loop,
                random: RandomSource(),
                configuration: configuration,
                logger: logger
            )
            estimator?.follow(system)
            system.energySource = estimator
            system.adviceSource = { [places = system.places] in
                AdviceStream(cost: { [weak estimator] in estimator?.report.cost(of: $0) }, findPlace: places.find)
            }
            system.controllers.onFailure = { [weak system] error in
                let failure = ToolError(error, controller: "\(address)")
                guard waits || system?.controllers.hasWorked == true else { return outcome.finish(.failure(failure)) }
                let text = "\(failure.description); waiting for the controller to come back"
                // A service must not block on its terminal.
                waits ? logger.error("\(text)") : Console.problem("harald: \(text)")
            }
            // Without its store, a service would lose at its end the state that it promised its apps to keep.
            if waits, let place = system.peers.storeInUse {
                outcome.finish(.failure(.storeInUse(place)))
                return system
            }
            system.start()
            return system
        }
    }
}

extension CaptureFile {
    /// Creates the capture file named on the command line. `inputs` are the files that the command reads.
    static func named(_ path: String, reading inputs: [String] = []) throws(ToolError) -> CaptureFile {
        do throws(OutputFile.Failure) {
            return try CaptureFile(path: path, reading: inputs)
        } catch {
            throw .capture(error)
        }
    }

    /// Returns what writes to the capture file at `path`; nil without one.
    static func writer(_ path: String?) throws(ToolError) -> (@Sendable ([UInt8]) -> Void)? {
        guard let path else { return nil }
        let file = try named(path)
        return { file.write($0) }
    }

    /// Inserts a name before the extension: `heart.btsnoop` becomes `heart.sensor.btsnoop`.
    static func sibling(of path: String, named name: String) -> String {
        let (stem, suffix) = ((path as NSString).deletingPathExtension, (path as NSString).pathExtension)
        return suffix.isEmpty ? "\(path).\(name)" : "\(stem).\(name).\(suffix)"
    }
}

/// The fault in the answers of a system with a controller, which can change while it runs. Used on the loop only.
final class AnswerSwitch {
    /// The fault from now on; nil for none.
    var fault: AnswerFault? {
        didSet { current?.fault = fault }
    }

    private weak var current: FaultyAnswers?

    /// Returns a transport that makes the answers over another one faulty.
    func wrap(_ line: any HCITransport, _ loop: any EventLoop) -> any HCITransport {
        let answers = FaultyAnswers(line, fault, loop: loop)
        current = answers
        return answers
    }
}
