import ArgumentParser

@main
struct Harald: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "harald", abstract: "Core Bluetooth beyond Apple.")
}
