import ArgumentParser
import Bonds
import EventLoops
import GAP
import HCI
import HCIHost
import HCITransports
import Logging
import Security

extension BondsCommand {
    /// Transfers bonds to another controller, or to the same one at another place, on the user's confirmation (AB-H08).
    struct Adopt: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Transfer the bonds to another controller, or to the same one at another place.",
            discussion: """
                Bonds are only used with the controller that they were made with, at the place where it was attached. Otherwise an \
                attacker could attach another controller with the same address to obtain the keys.

                Example:
                  harald bonds adopt --controller hci1 --store bonds

                \(ExitStatus.text(.controllerUnreachable, .controllerFailed))
                """
        )

        @OptionGroup var options: Options
        @OptionGroup var line: ControllerOptions

        func run() throws {
            do throws(ToolError) {
                try adopt()
            } catch {
                throw error.report()
            }
        }

        private func adopt() throws(ToolError) {
            let outcome = Outcome()
            let loop = NIOEventLoop()
            let capture = try line.captureFile()
            let (options, line) = (options, line)
            let host = loop.make {
                let transport = line.open(line.chosen, loop: loop, capture: capture)
                let host = HCIHost(transport: transport, loop: loop, stackEvents: .log(Logger(label: "harald")))
                host.onStateChange = { state in
                    switch state {
                    case .down, .starting: break
                    case .ready(let controller): outcome.finish(Self.give(options, to: AdapterIdentity(controller)))
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

        private static func give(_ options: Options, to adapter: AdapterIdentity) -> Result<Void, ToolError> {
            do throws(ToolError) {
                let storage = try options.open()
                do throws(BondError) {
                    let owner = try BondStore(existing: storage).adapter
                    let random = RandomSource()
                    let store = try BondStore(storage: storage, adapter: adapter, adopting: true, random: random)
                    let since = owner == adapter ? "as before" : "and no longer to \(owner)"
                    Console.line("\(store.bonds.count) bonds belong to \(adapter), \(since)")
                } catch {
                    throw .bonds(error)
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }
}
