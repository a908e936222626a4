import ArgumentParser

/// A command whose failure the tool reports.
protocol ToolCommand: ParsableCommand {
    /// Whether the failure is a document on standard output as well.
    var json: Bool { get }

    func execute() throws(ToolError)
}

extension ToolCommand {
    var json: Bool { false }

    func run() throws {
        do throws(ToolError) {
            try execute()
        } catch {
            throw error.report(json: json)
        }
    }
}

/// Checks a number of seconds, which is at most a day.
func checkSeconds(_ seconds: Double, of option: String) throws {
    guard seconds > 0, seconds <= 86_400 else {
        throw ValidationError("\(option) must be greater than 0 and at most 86400")
    }
}
