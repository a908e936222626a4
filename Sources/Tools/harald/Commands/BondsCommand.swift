import Administration
import ArgumentParser
import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import SMP
import Security
import ServiceMessages
import ServiceProcess

struct BondsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "List, remove or transfer the bonds with paired devices.",
        discussion: """
            Example:
              harald bonds list

            \(ExitStatus.text())
            """,
        subcommands: [List.self, Forget.self, Adopt.self]
    )

    struct Options: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Use the bonds in this directory rather than those of a running service.",
                valueName: "DIRECTORY"
            ),
            completion: .directory
        )
        var store: String?

        private var directory: String { store ?? StateDirectory.bonds() }

        /// Whether to ask a service: the named one, or one that is listening, unless a directory is named.
        func asks(_ service: ServiceOptions) -> Bool {
            guard store == nil else { return false }
            return service.service != nil || ServicePath.places(named: nil).contains(where: ServicePath.isListening)
        }

        /// Opens the store for changes. Fails while another process has it open.
        func open() throws(ToolError) -> any BondStorage {
            // Do not create the directory of a store that does not exist.
            guard FileManager.default.fileExists(atPath: directory) else { throw .bonds(.missing(place: directory)) }
            do throws(BondError) {
                return try FileBondStorage(directory: directory, random: RandomSource())
            } catch {
                throw .bonds(error)
            }
        }

        /// Whether there is no store where programs of this user keep it: this user has not paired yet.
        var isUnused: Bool { store == nil && !FileManager.default.fileExists(atPath: directory) }

        /// Reads the store, even while another process has it open.
        func inspect() throws(ToolError) -> StoredBonds {
            guard FileManager.default.fileExists(atPath: directory) else { throw .bonds(.missing(place: directory)) }
            do throws(BondError) {
                guard let state = try FileBondStorage.inspect(into: directory) else { throw .missing(place: directory) }
                return state
            } catch {
                throw .bonds(error)
            }
        }
    }

    struct List: ShowingCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the bonds, without their keys.",
            discussion: """
                Examples:
                  harald bonds list
                  harald bonds list --store bonds --json

                \(ExitStatus.text())
                """
        )

        @OptionGroup var options: Options
        @OptionGroup var service: ServiceOptions
        @OptionGroup var showing: ShowingOptions

        func execute() throws(ToolError) {
            if options.asks(service) {
                return try showing.show(.bonds, of: service, as: [BondStatus].self) { bonds in
                    bonds.isEmpty ? ["no bonds"] : ["\(count(bonds.count, "bond")) of the service"] + bonds.map(\.line)
                }
            }
            if options.isUnused { return json ? Console.json("[]") : Console.line("no bonds") }
            let state = try options.inspect()
            if json { return Console.json(JSONText.of(state.bonds.map(BondStatus.init)) ?? "[]") }
            Console.line("\(count(state.bonds.count, "bond")) of \(state.adapter)")
            for bond in state.bonds { Console.line(Self.line(bond)) }
        }

        private static func line(_ bond: Bond) -> String {
            let name = bond.name.map { " \($0.quotedName)" } ?? ""
            let lost = bond.isLost ? "; it has forgotten this device" : ""
            let address = "\(bond.address) (\(bond.address.kind))"
            return "\(bond.identifier)  \(address)\(name)  \(bond.keys.level.inWords)\(lost)"
        }
    }

    struct Forget: ShowingCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a bond, so that the device has to pair again.",
            discussion: """
                Examples:
                  harald bonds forget "Harald HR"
                  harald bonds forget CB2E897C-E481-4D3F-B117-B799F0076361 --store bonds --json

                \(ExitStatus.text())
                """
        )

        @OptionGroup var options: Options
        @OptionGroup var service: ServiceOptions
        @OptionGroup var showing: ShowingOptions

        @Argument(
            help: ArgumentHelp("The identifier or name of the device, as shown by list.", valueName: "DEVICE")
        )
        var bond: String

        func execute() throws(ToolError) {
            let bond = if let known = BondIdentifier(bond) { known } else { try identifier() }
            if options.asks(service), let peer = UUID(uuidString: "\(bond)") {
                _ = try service.ask(.forgetBond(peer))
            } else {
                let storage = try options.open()
                do throws(BondError) {
                    try BondStore(existing: storage).remove(bond)
                } catch {
                    throw .bonds(error)
                }
            }
            report.show(ForgottenDocument(identifier: "\(bond)"), as: "forgot \(bond)")
        }

        /// Returns the bond of the only device with this name, in any case. To forget takes the whole name.
        private func identifier() throws(ToolError) -> BondIdentifier {
            let named = try known.filter { $0.name?.lowercased() == bond.lowercased() }
            guard named.count <= 1 else {
                throw .incomplete(
                    "\(named.count) devices are named \(bond.quotedText); use an identifier of `harald bonds list`"
                )
            }
            guard let found = named.first, let identifier = BondIdentifier(found.identifier.uuidString) else {
                throw .incomplete("there is no bond \(bond.quotedText); `harald bonds list` shows all")
            }
            return identifier
        }

        private var known: [BondStatus] {
            get throws(ToolError) {
                if options.asks(service) { return try service.ask(.bonds, for: [BondStatus].self) }
                return options.isUnused ? [] : try options.inspect().bonds.map(BondStatus.init)
            }
        }
    }
}

/// A bond that was removed.
private struct ForgottenDocument: ReportDocument {
    static let event = "forgotten"

    let identifier: String
}

extension BondStatus {
    fileprivate init(_ bond: Bond) {
        self.init(
            identifier: UUID(uuidString: "\(bond.identifier)") ?? UUID(),
            name: bond.name,
            authenticated: bond.keys.level.isAuthenticated,
            hasForgottenUs: bond.isLost
        )
    }
}
