import Dispatch
import HCIHost
import HCITransports
import TestBasics
import Testing

@testable import harald

@Suite struct DoctorTests {
    @Test("a controller that says nothing until the time limit is reported as late, not as one without command credits")
    func aSilentController() throws {
        let terminal = try #require(PseudoTerminal())
        let address = try ControllerAddress("serial:\(terminal.path),115200")
        let result = MachineFacts.bringUp(address, bringUpTimeout: .milliseconds(0))
        guard case .failure(let failure) = result else { return recordIssue("there is no controller") }
        #expect(failure == .late && "\(failure)" != "\(HCIHostError.noCommandCredits)")
        withExtendedLifetime(terminal) {}
    }
}
