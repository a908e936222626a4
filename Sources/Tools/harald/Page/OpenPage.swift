import ArgumentParser
import Foundation
import HCITransports
import Page
import ServiceProcess

/// The page of a command, while the command runs. Lives on the loop.
final class OpenPage {
    private var server: PageServer?
    private var client: ToolClient?

    /// Listens for browsers, and prints the address to open, and how to end the command.
    func show(
        _ server: PageServer,
        at host: String,
        port: Int,
        options: String = "--page-listen or --page-port",
        _ outcome: Outcome
    ) {
        self.server = server
        server.listen(at: host, port: port) { result in
            switch result {
            case .success(let address):
                Console.line("Open this address in a browser: \(address)")
                Console.line("Press Ctrl-C to end.")
            case .failure(let error):
                outcome.finish(.failure(.service("\(error); choose another address with \(options)")))
            }
        }
    }

    /// Shows a service that listens at a socket, in this process.
    func show(serviceAt socket: String, loop: NIOEventLoop, _ options: PageOptions, _ outcome: Outcome) {
        let client = ToolClient([SocketDialer(path: socket, loop: loop)], loop: loop)
        client.onEnd = { outcome.finish(.failure(.service("\($0)"))) }
        client.open { [weak self, weak client] in
            guard let self, let client else { return }
            let server = PageServer(client, loop: loop, devices: PageProgram.devices(service: socket))
            show(server, at: options.pageListen, port: Int(options.pagePort), outcome)
        }
        self.client = client
    }

    /// Shows a world, by way of a conversation with one of its devices.
    func show(_ world: WorldRunner, loop: NIOEventLoop, _ options: PageOptions, _ outcome: Outcome) {
        let client = ToolClient([WorldDialer(world, loop: loop)], loop: loop)
        // A restart of the world ends the system that the page has talked with.
        client.onEnd = { [weak self] _ in self?.show(world, loop: loop, options, outcome) }
        client.open { [weak self, weak client] in
            guard let self, let client else { return }
            if let server { return server.use(client) }
            let server = PageServer(client, of: world, loop: loop)
            show(server, at: options.pageListen, port: Int(options.pagePort), outcome)
        }
        self.client = client
    }

    func send(_ value: PageValue) { server?.send(value) }

    func close() {
        server?.close()
        client?.close()
        (server, client) = (nil, nil)
    }
}

/// The program that uses devices for a page, with its arguments.
enum PageProgram {
    static func devices(service: String) -> [String] {
        ["/proc/self/exe", PageDevicesCommand._commandName, "--service", service]
    }
}

/// The options of commands that show a page beside what they do.
struct PageOptions: ParsableArguments {
    @Flag(help: "Show it in a browser. The command prints the address to open, which contains a key of this start.")
    var page = false

    @Option(help: ArgumentHelp("The address of the interface at which the page listens.", valueName: "ADDRESS"))
    var pageListen = "127.0.0.1"

    @Option(help: ArgumentHelp("The TCP port of the page; 0 for any that is free.", valueName: "PORT"))
    var pagePort: UInt16 = 0

    func validate() throws {
        guard page || (pageListen == "127.0.0.1" && pagePort == 0) else {
            throw ValidationError("--page-listen and --page-port need --page")
        }
    }
}
