import ArgumentParser
import EventLoops
import Foundation
import HCITransports
import Page
import ServiceMessages
import ServiceProcess

struct PageCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "Show the Bluetooth service in a browser: devices, apps, events, questions and advice.",
        discussion: """
            Prints the address to open, which contains a key of this start. Only browsers on this machine can open it, unless \
            --listen says otherwise; then every user with the address can do what this tool can, without encryption.

            Examples:
              harald page
              harald page --port 8080

            \(ExitStatus.textUntilInterrupted())
            """
    )

    @OptionGroup var service: ServiceOptions

    @Option(help: ArgumentHelp("The address of the interface to listen at.", valueName: "ADDRESS"))
    var listen = "127.0.0.1"

    @Option(help: ArgumentHelp("The TCP port; 0 for any that is free.", valueName: "PORT"))
    var port: UInt16 = 0

    func execute() throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        // A browser that has gone, and a program that has ended, are noticed without the signal.
        signal(SIGPIPE, SIG_IGN)
        let (listen, port) = (listen, Int(port))
        let path = ServicePath.places(named: service.service).first(where: ServicePath.isListening) ?? ""
        let devices = PageProgram.devices(service: path)
        let loop = NIOEventLoop()
        let open = loop.make { OpenPage() }
        let client = service.connect(outcome, loop: loop) { client in
            let server = PageServer(client, loop: loop, devices: devices)
            open.value.show(server, at: listen, port: port, options: "--listen or --port", outcome)
        }
        defer {
            open.with { $0.close() }
            client.with { $0.close() }
        }
        try outcome.wait()
    }
}
