import BluetoothSimulation
import EventLoops
import HCI

/// The fault in the answers of a system with a controller, which can change while it runs. Used on the loop only.
final class AnswerSwitch {
    /// The fault from now on; nil for none.
    var fault: AnswerFault? {
        didSet { current?.fault = fault }
    }

    private weak var current: FaultyAnswers?

    /// Returns a transport that makes the answers over another one faulty.
    func wrap(_ line: any HCITransport, _ loop: any EventLoop) -> any HCITransport {
        let answers = FaultyAnswers(line, fault, loop: loop)
        current = answers
        return answers
    }
}
