/// Code that processes octets from outside, and is run on many inputs.
struct FuzzTarget: Sendable {
    /// The name on the command line.
    var name: String
    /// The longest useful input, in octets.
    var maximumLength: Int
    /// The initial inputs, created each time from code and from a recorded session.
    var seeds: @Sendable () -> [[UInt8]]
    /// Runs an input. A violated property ends the process.
    var run: @Sendable (FuzzInput) -> Void

    init(
        _ name: String,
        maximumLength: Int,
        seeds: @autoclosure @escaping @Sendable () -> [[UInt8]],
        run: @escaping @Sendable (FuzzInput) -> Void
    ) {
        self.name = name
        self.maximumLength = maximumLength
        self.seeds = seeds
        self.run = run
    }
}

extension FuzzTarget {
    /// All targets, decoders first.
    static let all: [FuzzTarget] = [
        hciCommands, hciEvents, h4, threeWire, usb, dongle, advertisingData, words, l2cap, attPDUs, smpPDUs,
        advertisingPDUs,
        linkPDUs, ranging, soundingResults,
        snoop, pcapng, pcap, packetLogger, playback, story,
        bonds, records, messages, toolMessages, creditChannels, gattServer, gattClient, linkControl, linkEncryption,
        smpMachine,
        smpConversations,
        controller, host, clients, connection, kernelLog, propertyLists, accessories, steps, profiles,
        playedSystem, page, stacks,
    ]
}

/// Ends the process with a message if a property is violated, so that libFuzzer keeps the input.
func hold(_ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line) {
    guard !condition else { return }
    fatalError("does not hold: \(what())", file: file, line: line)
}
