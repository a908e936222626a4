import BluetoothTypes
import Foundation
import Testing

@testable import harald

@Suite struct ShellCompletionTests {
    private static let identifier = UUID(uuidString: "CB2E897C-E481-4D3F-B117-B799F0076361") ?? UUID()

    private func completer(_ names: String?...) -> ShellCompleter {
        let memory = ClientMemory()
        for (index, name) in names.enumerated() {
            let names = [name].compactMap(\.self)
            memory.add(DeviceCandidate(identifier: index == 0 ? Self.identifier : UUID(), names: names))
        }
        return ShellCompleter(memory: memory)
    }

    /// The line after its completion.
    private func completed(_ text: String, by completer: ShellCompleter) -> String? {
        guard let completion = completer.complete(text), let replacement = completion.replacement else { return nil }
        let rest = text.unicodeScalars.dropLast(completion.replacedCount)
        return String(String.UnicodeScalarView(rest)) + replacement
    }

    @Test("commands, options and names of devices are completed, with quotation marks where they need them")
    func completing() {
        let completer = completer("Harald HR", "Pulse", "Grüße")
        for (text, line) in [
            ("sc", "scan "), ("  fol", "  follow "), ("disc", "disconnect "), ("dist", "distance "),
            ("help re", "help read "),
            ("scan --tim", "scan --timeout "), ("read --ra", "read --raw "),
            ("scan --json --un", "scan --json --until "),
            ("read pul", "read Pulse "), ("read har", "read \"Harald HR\" "),
            ("read \"Harald h", "read \"Harald HR\" "),
            ("read 'Harald", "read \"Harald HR\" "), ("read gr", "read Grüße "), ("read \"grü", "read Grüße "),
            ("scan --until p", "scan --until Pulse "), ("read --raw pu", "read --raw Pulse "),
            ("read --timeout 5 pu", "read --timeout 5 Pulse "), ("read -- pu", "read -- Pulse "),
            ("disconnect pu", "disconnect Pulse "),
            ("connect cb2e", "connect \(Self.identifier.uuidString) "),
        ] {
            #expect(completed(text, by: completer) == line, "\(text)")
        }
    }

    @Test("several candidates are listed, after what they have in common")
    func listing() {
        let completer = completer("Pulse one", "Pulse two")
        #expect(completer.complete("read ")?.listing == ["Pulse one", "Pulse two"])
        #expect(completed("read p", by: completer) == "read \"Pulse ")
        #expect(completed("read \"Pulse ", by: completer) == nil)
        #expect(completed("read \"Pulse o", by: completer) == "read \"Pulse one\" ")
        #expect(completer.complete("")?.listing == ShellVerbs.names.sorted())
        #expect(
            completer.complete("d")
                == ShellCompletion(replacedCount: 1, replacement: nil, listing: ["devices", "disconnect", "distance"])
        )
    }

    @Test(
        "nothing is completed where nothing is known",
        arguments: [
            "nothing", "nothing Pul", "scan # p", "read Pulse 2A", "scan --timeout ", "quit ", "write Pulse 2A39 0",
        ]
    )
    func unknownPlacesHaveNoCompletions(text: String) {
        #expect(completer("Pulse").complete(text) == nil)
    }

    @Test("options of the whole session are not offered")
    func sessionOptions() {
        let options = completer().complete("explore --")?.listing ?? []
        #expect(options.contains("--follow") && options.contains("--json"))
        for option in ["--controller", "--service", "--capture", "--answer", "--store", "--version"] {
            #expect(!options.contains(option), "\(option)")
        }
    }

    @Test("a device without a name, or with control characters in it, is completed by its identifier")
    func namelessDevices() {
        for name in [nil, "", "Pulse\u{1B}[2J", "Pulse\n"] as [String?] {
            #expect(completed("read ", by: completer(name)) == "read \(Self.identifier.uuidString) ")
        }
    }

    @Test("the list is bounded, and so are the devices that are remembered")
    func bounds() {
        let memory = ClientMemory()
        for index in 0..<(ClientMemory.maximumDevices + 100) {
            memory.add(DeviceCandidate(identifier: UUID(), names: ["Device \(index)"]))
        }
        #expect(memory.candidates.count == ClientMemory.maximumDevices)
        let listing = ShellCompleter(memory: memory).complete("read ")?.listing
        #expect(listing?.count == ShellCompleter.maximumListed + 1 && listing?.last == "...")
    }
}
