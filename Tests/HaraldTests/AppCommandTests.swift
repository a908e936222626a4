import ArgumentParser
import Foundation
import ServiceMessages
import Testing

@testable import harald

/// The commands of `harald app` that change accessories, up to the question for the service.
@Suite struct AppCommandTests {
    private static let identifier = "00010203-0405-4607-8809-0A0B0C0D0E0F"
    private static let app = "com.example.Belts"

    @Test func forgettingAsksForTheRemoval() throws {
        let parsed = try AppCommand.parseAsRoot(["forget-accessory", Self.app, Self.identifier])
        let command = try #require(parsed as? AppCommand.ForgetAccessory)
        let belt = try #require(UUID(uuidString: Self.identifier))
        #expect(command.chosen.question(.remove) == .accessory(belt, .remove, name: Self.app, owner: nil))
    }

    @Test func renamingAsksForTheNameAndTheUser() throws {
        let arguments = ["rename-accessory", "--user", "1000", Self.app, Self.identifier, "Left belt"]
        let command = try #require(try AppCommand.parseAsRoot(arguments) as? AppCommand.RenameAccessory)
        let belt = try #require(UUID(uuidString: Self.identifier))
        let question = ToolQuestion.accessory(belt, .rename("Left belt"), name: Self.app, owner: 1_000)
        #expect(command.chosen.question(.rename(command.new)) == question)
    }

    @Test(
        "an identifier that is none, and a name that is missing, are usage errors",
        arguments: [
            ["forget-accessory", "app"], ["forget-accessory", "app", "Belt"],
            ["rename-accessory", "app", "00010203-0405-4607-8809-0A0B0C0D0E0F"],
            ["forget-accessory", "--user", "me", "app", "00010203-0405-4607-8809-0A0B0C0D0E0F"],
        ]
    )
    func misuse(arguments: [String]) {
        #expect(throws: (any Error).self) { try AppCommand.parseAsRoot(arguments) }
    }
}
