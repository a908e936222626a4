import ArgumentParser
import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import SMP

struct BondsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "The devices that this one has paired with.",
        subcommands: [List.self, Forget.self, Adopt.self]
    )

    struct Options: ParsableArguments {
        @Option(help: "The directory where the bonds are kept.")
        var store = StateDirectory.bonds()

        /// To change them, for which nobody else may have them.
        func open() throws(ToolError) -> any BondStorage {
            // Looking is no reason to make a directory.
            guard FileManager.default.fileExists(atPath: store) else { throw .bonds(.missing(place: store)) }
            do throws(BondError) {
                return try FileBondStorage(directory: store, random: RandomSource())
            } catch {
                throw .bonds(error)
            }
        }

        /// To look at them, also while a program has them.
        func look() throws(ToolError) -> StoredBonds {
            guard FileManager.default.fileExists(atPath: store) else { throw .bonds(.missing(place: store)) }
            do throws(BondError) {
                guard let state = try FileBondStorage.look(into: store) else { throw .missing(place: store) }
                return state
            } catch {
                throw .bonds(error)
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show them, without their keys.")

        @OptionGroup var options: Options

        func run() throws {
            do throws(ToolError) {
                let state = try options.look()
                Console.line("\(state.bonds.count) bonds of \(state.adapter)")
                for bond in state.bonds { Console.line(Self.line(bond)) }
            } catch {
                throw error.report()
            }
        }

        private static func line(_ bond: Bond) -> String {
            let name = bond.name.map { " \($0.quotedName)" } ?? ""
            let lost = bond.isLost ? "; it has forgotten this device" : ""
            let address = "\(bond.address) (\(bond.address.kind))"
            return "\(bond.identifier)  \(address)\(name)  \(bond.keys.level.inWords)\(lost)"
        }
    }

    struct Forget: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove one, so that the device has to pair anew.")

        @OptionGroup var options: Options

        @Argument(help: "Its identifier, as list shows it.", transform: identifier)
        var bond: BondIdentifier

        func run() throws {
            do throws(ToolError) {
                let storage = try options.open()
                do throws(BondError) {
                    try BondStore(existing: storage).remove(bond)
                } catch {
                    throw ToolError.bonds(error)
                }
                Console.line("forgot \(bond)")
            } catch {
                throw error.report()
            }
        }
    }
}

private func identifier(_ text: String) throws -> BondIdentifier {
    guard let identifier = BondIdentifier(text) else { throw ValidationError("\"\(text)\" is no identifier") }
    return identifier
}
