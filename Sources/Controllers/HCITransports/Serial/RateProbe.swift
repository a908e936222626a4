import BluetoothTypes
import EventLoops
import HCI

/// Finds the rate of a controller on a serial port. A controller does not understand requests at a wrong rate. Lives on
/// its loop.
final class RateProbe {
    /// How long to wait for an answer to Reset, or for a frame of the three-wire protocol, which repeats every 250 ms.
    static let answerTimeout = Duration.milliseconds(600)

    private let line: any OctetLine
    private let loop: any EventLoop
    private let isThreeWire: Bool
    private let set: (Int) -> Bool
    private var rates: ArraySlice<Int>
    private var parser = H4Parser(isResynchronizing: true)
    private var decoder = SLIPFrames()
    private var completion: ((Int?) -> Void)?

    /// Queries the controller at each rate until it answers. `completion` is called once, with the rate, or nil if
    /// there is no answer.
    ///
    /// - Parameter set: Sets the rate of the port. Returns false if the port does not support it.
    init(
        _ line: any OctetLine,
        rates: [Int],
        isThreeWire: Bool,
        loop: any EventLoop,
        set: @escaping (Int) -> Bool,
        completion: @escaping (Int?) -> Void
    ) {
        (self.line, self.rates, self.isThreeWire) = (line, rates[...], isThreeWire)
        (self.loop, self.set, self.completion) = (loop, set, completion)
        line.onReceive = { self.receive($0) }
        line.onClose = { _ in self.finish(nil) }
        loop.execute { self.ask() }
    }

    private func ask() {
        guard completion != nil else { return }
        while let rate = rates.first, !set(rate) { rates.removeFirst() }
        guard let rate = rates.first else { return finish(nil) }
        (parser, decoder) = (H4Parser(isResynchronizing: true), SLIPFrames())
        line.send(isThreeWire ? SLIPFrames.sync : [0x01, 0x03, 0x0C, 0x00])
        _ = loop.schedule(after: Self.answerTimeout) { [weak self] in
            guard let self, rates.first == rate else { return }
            rates.removeFirst()
            ask()
        }
    }

    private func receive(_ octets: [UInt8]) {
        let isUnderstood = isThreeWire ? decoder.hasPacket(in: octets) : !parser.parse(octets).isEmpty
        if isUnderstood { finish(rates.first) }
    }

    private func finish(_ rate: Int?) {
        let done = completion
        completion = nil
        (line.onReceive, line.onClose) = (nil, nil)
        done?(rate)
    }
}
