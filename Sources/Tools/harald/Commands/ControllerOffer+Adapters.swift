import HCI
import HCITransports

/// Virtual controllers as kernel adapters.
extension ControllerOffer {
    /// Creates adapters, which exist as long as the offer does.
    func offer(adapters count: Int) throws(ToolError) {
        for _ in 0..<count {
            do throws(VirtualAdapter.Failure) {
                begin(try VirtualAdapter.make())
            } catch {
                throw .incomplete("cannot create an adapter: \(error)")
            }
        }
    }

    private func begin(_ made: VirtualAdapter.Made) {
        let name = "hci\(made.number)"
        UserChannelTransport.attach(
            made.descriptor,
            place: "vhci:\(name)",
            as: .controller,
            calls: LinuxCalls(ofDevice: true),
            loop: loop
        ) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let line):
                report.say("adapter \(name) created")
                accept(line) { [report] in report.say("adapter \(name) removed") }
            case .failure(let error): Console.problem("harald: \(name) cannot be used: \(error)")
            }
        }
    }
}
