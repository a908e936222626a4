/// Something that octets from outside are fed to, again and again.
struct FuzzTarget: Sendable {
    /// The name on the command line.
    var name: String
    /// The longest input that is worth while, in octets.
    var maximumLength: Int
    /// Inputs to begin with, made anew each time from code and from a recorded session.
    var seeds: @Sendable () -> [[UInt8]]
    /// Takes an input; whatever does not hold ends the process.
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
        hciCommands, hciEvents, h4, threeWire, usb, dongle, advertisingData, l2cap, attPDUs, smpPDUs, advertisingPDUs,
        linkPDUs,
        snoop,
        bonds, records, messages, toolMessages, creditChannels, gattServer, gattClient, linkControl, linkEncryption,
        smpMachine,
        smpConversations,
        controller, host, clients, connection, kernelLog, propertyLists, stacks,
    ]
}

/// Ends the process with what did not hold, for libFuzzer to keep the input.
func hold(_ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line) {
    guard !condition else { return }
    fatalError("does not hold: \(what())", file: file, line: line)
}
