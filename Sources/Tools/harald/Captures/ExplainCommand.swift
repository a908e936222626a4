import ArgumentParser
import BluetoothTypes
import CaptureStory
import Foundation
import HCI

struct ExplainCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say whether what a capture shows has worked, and why not, and tell its story.",
        discussion: """
            The verdict comes first: what was attempted, whether it worked, and why not, with the packet and the section of \
            the specification. Then there are devices, connections, pairing, attributes, errors, throughput and advice. On \
            standard input the verdict follows the story.

            Reads btsnoop (of Harald, Android and btmon), Apple's PacketLogger (.pklg), pcap and pcapng, with HCI packets or \
            frames of the LE link layer. A file of any length takes a bounded amount of memory.

            With --why, only the chain of causes of one packet is printed: each packet with its time, its relation to the             one that caused it, and the section of the specification. The file is read twice then.

            Examples:
              harald explain heart.btsnoop
              harald explain --why 412 heart.btsnoop
              harald explain --connection 2 --timeline heart.svg heart.btsnoop

            \(ExitStatus.text(.captureShowsFailure))
            """
    )

    @OptionGroup var showing: ShowingOptions

    @Option(help: ArgumentHelp("Tell about this connection only, by its number in the story.", valueName: "N"))
    var connection: Int?

    @Flag(help: "Tell only how connections begin, change, fail and end.")
    var brief = false

    @Option(
        help: ArgumentHelp(
            "Tell what caused this packet, by its number in the file, and what it caused.",
            valueName: "N"
        )
    )
    var why: Int?

    @Option(
        help: ArgumentHelp("Draw the connections on a line of time, as an SVG image in this file.", valueName: "FILE"),
        completion: .file(extensions: ["svg"])
    )
    var timeline: String?

    @Argument(help: ArgumentHelp("The capture file; - for standard input.", valueName: "FILE"), completion: .file())
    var file: String

    func validate() throws {
        if let connection, connection < 1 { throw ValidationError("--connection must be at least 1") }
        guard let why else { return }
        guard why >= 1 else { throw ValidationError("--why must be at least 1") }
        guard connection == nil, !brief, timeline == nil else {
            throw ValidationError("--why goes with none of --connection, --brief and --timeline")
        }
    }

    func execute() throws(ToolError) {
        Console.endWithReader()
        if let why { return try explain(why) }
        if let timeline {
            try writing(timeline) { () throws(OutputFile.Failure) in try OutputFile.check(timeline, reading: [file]) }
        }
        let input = CaptureInput(path: file)
        var explanation = Explanation(report, connection: connection, isBrief: brief, verdict: verdict(on: input))
        let isCut = try input.read(inPlace: true, pause: { explanation.pause() }) {
            (record) throws(ToolError) in explanation.receive(record)
        }
        explanation.finish(isCut: isCut)
        guard let connection, connection > explanation.story.totals.connections else {
            try draw(explanation.story)
            guard explanation.verdict?.outcome == .succeeded else { throw .captureShowsFailure }
            return
        }
        let known = count(explanation.story.totals.connections, "connection")
        throw .incomplete("there is no connection \(connection): the capture has \(known)")
    }

    private func explain(_ number: Int) throws(ToolError) {
        let input = CaptureInput(path: file)
        guard input.isFile else { throw .incomplete("--why reads the capture twice: save it to a file first") }
        var explanation = WhyExplanation(of: number)
        _ = try input.read(inPlace: true) { explanation.receive($0) }
        guard explanation.isFound else {
            let known = count(explanation.packets, "record")
            throw .incomplete("record \(number) is no packet of HCI or of the air: the capture has \(known)")
        }
        var words = CaptureWords(of: explanation.shown)
        _ = try input.read(inPlace: true) { words.receive($0) }
        explanation.show(words.words, in: report)
    }

    /// Reads a file up to its end, before it is read again for its story. An error is reported by that.
    ///
    /// The verdict is shown first, and the last packet may decide it. A single pass would have to keep the whole story
    /// until then, in unbounded memory. The first pass is brief, and composes no texts.
    private func verdict(on input: CaptureInput) -> Verdict? {
        guard input.isFile else { return nil }
        var story = CaptureStory(isBrief: true)
        _ = try? input.read(inPlace: true) { _ = story.receive($0) }
        _ = story.finish()
        return story.verdict(of: connection)
    }

    private func draw(_ story: CaptureStory) throws(ToolError) {
        guard let timeline else { return }
        let shown = story.links.filter { connection == nil || $0.number == connection }
        let image = StoryTimeline(shown, totals: story.totals).svg
        try writing(timeline) { () throws(OutputFile.Failure) in
            try OutputFile.write(Array(image.utf8), to: timeline, reading: [file])
        }
    }

    private func writing(_ timeline: String, _ body: () throws(OutputFile.Failure) -> Void) throws(ToolError) {
        do throws(OutputFile.Failure) {
            try body()
        } catch {
            throw .incomplete("cannot write the timeline \(timeline.visible): \(error.reason)")
        }
    }
}
