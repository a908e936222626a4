import Administration
import ArgumentParser
import BluetoothService
import CoreBluetooth
import EventLoops
import Foundation
import HCITransports
import ServiceMessages
import ServiceProcess

/// Where a command finds its devices.
enum ClientPlace: Hashable {
    /// The service whose socket this is.
    case service(String)
    case controller(ControllerAddress)

    /// Returns what the command line names, or else the environment, as for programs that import CoreBluetooth. Without
    /// either, it is a running service, or else the first usable adapter.
    ///
    /// - Parameter listens: Returns whether a service is listening at a path.
    static func choose(
        controller: ControllerAddress?,
        service: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        listens: (String) -> Bool = ServicePath.isListening
    ) -> ClientPlace {
        if let controller { return .controller(controller) }
        if let service { return .service(service) }
        if let path = environment[ServicePath.variable], !path.isEmpty { return .service(path) }
        if let controller = ControllerAddress.ofEnvironment(environment) { return .controller(controller) }
        let usual = ServicePath.places(named: nil, environment: environment)
        return usual.first(where: listens).map { .service($0) } ?? .controller(.adapter(.first))
    }
}

/// The options of commands that use devices: through a running service, or with a controller of their own.
struct ClientOptions: ParsableArguments {
    static let discussion = """
        Through a running service, the command is an app among others. It uses a controller of its own if --controller or \
        HARALD_CONTROLLER names one, or if no service is running.
        """

    @OptionGroup var line: ControllerOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    var place: ClientPlace { ClientPlace.choose(controller: line.controller, service: service.service) }
    var report: ToolReport { ToolReport(json: showing.json) }

    func validate() throws {
        guard line.controller == nil || service.service == nil else {
            throw ValidationError("--controller and --service are mutually exclusive")
        }
    }

    /// Checks that neither `--capture` nor one of `others` is given for a service: they need a controller of one's own.
    func checkOptions(_ others: [(name: String, isGiven: Bool)]) throws {
        if ShellLine.isBeingParsed { return try ShellLine.refuse(others) }
        guard case .service = place else { return }
        let given = ([("--capture", line.capture != nil)] + others).filter(\.isGiven).map(\.name)
        guard let first = given.first else { return }
        throw ValidationError("\(first) needs a controller of its own: name one with --controller")
    }

    /// Runs `verb` on the service or on the controller, until it ends or the user interrupts it. Then leaves all
    /// devices that it has connected to.
    ///
    /// - Parameter isDocument: Whether the result is a document. Prompts must not interrupt it, even without `--json`.
    func run(
        trust: TrustOptions? = nil,
        onlyResult: Bool = false,
        isDocument: Bool = false,
        _ verb: @escaping DeviceClient.Verb
    ) throws(ToolError) {
        Console.endWithReader()
        let report = ToolReport(json: showing.json, onlyResult: onlyResult)
        let say = isDocument ? Console.problem : printToUser
        let outcome = Outcome()
        let (aborts, abort) = AsyncStream<ToolError>.makeStream()
        Interrupts.onEnd { abort.yield($0) }
        let host = try open(trust, say: say, lost: { abort.yield($0) }) { abort.yield($0) }
        let facts = host.facts
        ServiceLocator.$current.withValue(host.connection) {
            _ = Task {
                outcome.finish(await DeviceClient.perform(verb, facts: facts, report: report, aborts: aborts))
            }
        }
        defer { host.stop() }
        try outcome.wait()
    }

    /// Prints a line for the user, who may be answering prompts while a program reads the documents.
    var printToUser: @Sendable (String) -> Void { showing.json ? Console.problem : Console.line }

    /// Runs a command with the open scan or link of a system of its own, until it finishes or the user interrupts it.
    ///
    /// - Parameter start: Starts the command on the loop of the system. Returns a function that ends it early.
    func perform(
        on address: ControllerAddress,
        _ configuration: SystemConfiguration,
        trust: TrustOptions? = nil,
        start: @escaping @Sendable (BluetoothSystem, @escaping (Result<Void, ToolError>) -> Void) -> (ToolError) -> Void
    ) throws(ToolError) {
        Console.endWithReader()
        let outcome = Outcome()
        // A signal that comes before the command has begun ends it then.
        let (aborts, abort) = AsyncStream<ToolError>.makeStream()
        Interrupts.onEnd { abort.yield($0) }
        // At the end of a capture that is played back, the command goes on until its time is over.
        let starting = Outcome { result in
            if case .failure(.captureOver) = result { return }
            outcome.finish(result)
        }
        let (loop, capture) = (NIOEventLoop(), try line.captureFile())
        let system = line.startSystem(configuration, loop: loop, capture: capture, outcome: starting)
        system.reportLoss(of: "\(address)") { outcome.finish(.failure($0)) }
        let prompter = trust?.answerPrompts(of: system, say: printToUser)
        let end = system.with { LoopBound(start($0, outcome.finish), loop: loop) }
        let ending = Task {
            for await error in aborts { loop.submit { end.value(error) } }
        }
        try outcome.wait(thenStopping: system)
        withExtendedLifetime((prompter, end)) { ending.cancel() }
    }

    /// Opens the service or the controller.
    ///
    /// - Parameters:
    ///   - lost: Receives the error if a controller that has worked fails.
    ///   - abort: Receives the error if the controller turns out to be unusable.
    func open(
        _ trust: TrustOptions?,
        keyboard: any Keyboard = StandardInput(),
        say: @escaping @Sendable (String) -> Void,
        lost: @escaping @Sendable (ToolError) -> Void,
        abort: @escaping @Sendable (ToolError) -> Void
    ) throws(ToolError) -> ClientHost {
        switch place {
        case .service(let path):
            guard ServicePath.isListening(path) else {
                throw .service(
                    """
                    no service is listening at \(path); start one with `harald service`, or name a controller with --controller
                    """
                )
            }
            let devices: ClientHost.Devices = { [service] () throws(ToolError) in
                try service.at(path).ask(.devices, for: [DeviceStatus].self)
            }
            return ClientHost.service(path, known: (try? devices()) ?? [], devices: devices)
        case .controller(let address):
            let outcome = Outcome { if case .failure(let error) = $0 { abort(error) } }
            let capture = try line.captureFile()
            let loop = NIOEventLoop()
            let system = line.startSystem(named: "Harald", trust: trust, loop: loop, capture: capture, outcome: outcome)
            system.reportLoss(of: "\(address)", lost)
            let prompter = trust?.prepare(system, outcome, keyboard: keyboard, say: say)
            return ClientHost.system(system, controller: "\(address)", prompter: prompter)
        }
    }
}

extension LoopBound<BluetoothSystem> {
    /// Reports the failure of a controller that has worked. Until then, failures are reported as before.
    func reportLoss(of controller: String, _ lost: @escaping @Sendable (ToolError) -> Void) {
        with { system in
            let fail = system.controllers.onFailure
            system.controllers.onFailure = { [weak system] error in
                guard system?.controllers.hasWorked == true else { fail?(error); return }
                lost(ToolError(losing: controller, error))
            }
        }
    }
}
