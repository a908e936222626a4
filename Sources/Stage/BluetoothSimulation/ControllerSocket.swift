import BluetoothService
import CapturePlayback
import EventLoops
import HCI
import LinkLayer

/// The connector of a simulated device's controller.
///
/// A controller that is unplugged and plugged in again is the same one, with its state lost.
final class ControllerSocket {
    let node: RadioNode
    private(set) lazy var source = ControllerSource { [unowned self] in open() }

    /// Wraps the host's end of each transport, as tests of failing controllers do.
    var interpose: ((any HCITransport) -> any HCITransport)?

    private let place: String
    private let loop: any EventLoop
    private let random: RandomSource
    private var configuration: VirtualControllerConfiguration
    private let player: CapturePlayer?
    private let log: PacketLog
    private(set) var isPluggedIn = true
    private var lines: UInt64 = 0
    private var earlierQuirks: [ControllerQuirk: Int] = [:]
    private var current: (controller: VirtualController, end: InMemoryTransport, answers: FaultyAnswers)?
    /// The fault in the host's answers, on this transport and later ones.
    var answerFault: AnswerFault? {
        didSet { current?.answers.fault = answerFault }
    }

    /// Called on each occasion at which a reading of the radio has to be taken. See ``RadioOccasion``.
    var onRadio: ((RadioOccasion, RadioReading?) -> Void)?

    init(
        _ place: String,
        node: RadioNode,
        loop: any EventLoop,
        random: RandomSource,
        configuration: VirtualControllerConfiguration,
        playing capture: CapturedController?,
        log: PacketLog
    ) {
        self.place = place
        self.node = node
        self.loop = loop
        self.random = random
        self.configuration = configuration
        player = capture.map { CapturePlayer($0, loop: loop) }
        self.log = log
    }

    private func open() -> (any HCITransport)? {
        guard isPluggedIn else { return nil }
        rememberQuirks()
        let end = player.map { logged($0.open(place: place)) } ?? openVirtual()
        return interpose?(end) ?? end
    }

    private func logged(_ transport: any HCITransport) -> any HCITransport {
        SnoopingTransport(transport, end: .host, loop: loop) { [log] in log.record($0, $1, $2) }
    }

    private func openVirtual() -> any HCITransport {
        let line = InMemoryTransport.pair(loop: loop, place: place)
        let controller = VirtualController(
            transport: line.controller,
            node: node,
            loop: loop,
            random: lines == 0 ? random : random.split(lines),
            configuration: configuration
        )
        lines += 1
        controller.onLinkRetired = { [weak self] in self?.note(.linkRetires($0)) }
        // The capture shows the answers as the host sends them; a capture of the air shows them as they are sent.
        let answers = FaultyAnswers(line.host, answerFault, loop: loop)
        current = (controller, line.controller, answers)
        return logged(answers)
    }

    func unplug() {
        isPluggedIn = false
        current?.end.close()
        player?.unplug()
        // The controller stops when its last reference is released.
        rememberQuirks()
        // Without power, the firmware loses its degraded state too.
        configuration.quirks.remove(.degraded)
    }

    /// The number of the present controller, and what its radio did; nil if the device has none, or plays a capture.
    var radioReading: RadioReading? {
        current.map { RadioReading(controller: Int(lines), times: $0.controller.radioTime, powers: node.powers) }
    }

    func note(_ occasion: RadioOccasion) {
        if let onRadio { onRadio(occasion, radioReading) }
    }

    /// How often the controller has shown each quirk, on all of its transports.
    var quirksShown: [ControllerQuirk: Int] {
        earlierQuirks.merging(current?.controller.quirksShown ?? [:], uniquingKeysWith: +)
    }

    /// The differences between what the host sent and the capture that is played.
    var departures: [CaptureDeparture] { player?.departures ?? [] }

    private func rememberQuirks() {
        earlierQuirks = quirksShown
        if current != nil { note(.controllerEnds) }
        // Its links end with it. Their time is part of the reading above.
        current?.controller.onLinkRetired = nil
        current = nil
    }

    func plugIn() {
        guard !isPluggedIn else { return }
        isPluggedIn = true
        source.arrived()
    }
}
