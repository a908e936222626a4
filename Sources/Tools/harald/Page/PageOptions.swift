import ArgumentParser
import Foundation

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
