import ArgumentParser
import EventLoops
import GAP
import HCI
import HCIHost
import HCITransports
import Logging
import Security

extension BondsCommand {
    /// Transfers bonds to another controller, or to the same one at another place, on the user's confirmation (AB-H08).
    struct Adopt: ShowingCommand {
        static let configuration = CommandConfiguration(
            abstract: "Transfer the bonds to another controller, or to the same one at another place.",
            discussion: """
                Bonds are only used with the controller that they were made with, at the place where it was attached. Otherwise an \
                attacker could attach another controller with the same address to obtain the keys.

                Examples:
                  harald bonds adopt --controller hci1 --store bonds
                  harald bonds adopt --controller hci1 --store bonds --json

                \(ExitStatus.text(.controllerUnreachable, .controllerFailed))
                """
        )

        @OptionGroup var options: Options
        @OptionGroup var line: ControllerOptions
        @OptionGroup var showing: ShowingOptions

        func execute() throws(ToolError) {
            let outcome = Outcome()
            let loop = NIOEventLoop()
            let capture = try line.captureFile()
            let (options, line, report) = (options, line, report)
            let host = loop.make {
                let transport = line.open(line.chosen, loop: loop, capture: capture)
                let host = HCIHost(transport: transport, loop: loop, stackEvents: .log(Logger(label: "harald")))
                host.onStateChange = { state in
                    switch state {
                    case .down, .starting: break
                    case .ready(let controller):
                        outcome.finish(Self.give(options, to: AdapterIdentity(controller), report))
                    case .failed(let error):
                        outcome.finish(.failure(ToolError(error, controller: "\(line.chosen)")))
                    }
                }
                host.start()
                return host
            }
            defer {
                host.stop { host, done in
                    host.stop()
                    host.whenSilent(done)
                }
            }
            try outcome.wait()
        }

        private static func give(
            _ options: Options,
            to adapter: AdapterIdentity,
            _ report: ToolReport
        ) -> Result<Void, ToolError> {
            Result { () throws(ToolError) in
                let storage = try options.open()
                do throws(BondError) {
                    let owner = try BondStore(existing: storage).adapter
                    let random = RandomSource()
                    let store = try BondStore(storage: storage, adapter: adapter, adopting: true, random: random)
                    let since = owner == adapter ? "as before" : "and no longer to \(owner)"
                    let number = store.bonds.count
                    let document = AdoptedDocument(
                        bonds: number,
                        adapter: "\(adapter)",
                        formerAdapter: owner == adapter ? nil : "\(owner)"
                    )
                    let belong = number == 1 ? "1 bond belongs" : "\(number) bonds belong"
                    report.show(document, as: "\(belong) to \(adapter), \(since)")
                } catch {
                    throw .bonds(error)
                }
            }
        }
    }
}

/// Bonds that belong to an adapter.
private struct AdoptedDocument: ReportDocument {
    static let event = "adopted"

    let bonds: Int
    let adapter: String
    /// The adapter that they belonged to before; nil for the same one.
    let formerAdapter: String?
}
