import Administration
import BluetoothService
import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// The service or controller that the lines of a shell share, and its connected devices.
final class ShellSession: Sendable {
    private let host: ClientHost
    private let client: DeviceClient
    private let terminal: ShellTerminal
    private let interrupts: ShellInterrupts
    private let isLeaving = Atomic(false)

    init(
        _ host: ClientHost,
        _ memory: ClientMemory,
        report: ToolReport,
        _ terminal: ShellTerminal,
        _ interrupts: ShellInterrupts
    ) {
        self.host = host
        self.terminal = terminal
        self.interrupts = interrupts
        client = ServiceLocator.$current.withValue(host.connection) {
            DeviceClient(facts: DeviceFacts(), report: report, memory: memory)
        }
    }

    var memory: ClientMemory { client.memory }

    func perform(_ report: ToolReport, _ verb: @escaping DeviceClient.Verb) -> Result<Void, ToolError> {
        let (aborts, abort) = AsyncStream<ToolError>.makeStream()
        if let error = interrupts.beginCommand(abort) { return .failure(error) }
        terminal.beginCommand()
        defer {
            terminal.endCommand()
            interrupts.endCommand()
        }
        let outcome = Outcome()
        let client = client.next(facts: facts, report: report)
        run { outcome.finish(await client.perform(verb, aborts: aborts)) }
        return Result { () throws(ToolError) in try outcome.wait() }
    }

    private var facts: DeviceFacts {
        var facts = host.facts
        if client.central.state == .poweredOn, let known = try? host.devices() { facts.known = known }
        return facts
    }

    func devices(_ report: ToolReport) throws(ToolError) -> [DeviceStatus] {
        try perform(report) { _ in }.get()
        let devices = try host.devices()
        for device in devices {
            let names = [device.name].compactMap(\.self)
            memory.add(DeviceCandidate(identifier: device.identifier, names: names))
        }
        return devices
    }

    var end: ToolError? { interrupts.end }

    /// Disconnects from all devices, and leaves the service or the controller.
    ///
    /// A second call never returns: the first one is followed by the end of the program.
    func leave() {
        if isLeaving.exchange(true, ordering: .relaxed) { while true { pause() } }
        let outcome = Outcome()
        run { [client] in
            try? await client.disconnect(nil)
            outcome.finish(.success(()))
        }
        try? outcome.wait()
        host.stop()
    }

    private func run(_ body: @escaping @Sendable () async -> Void) {
        ServiceLocator.$current.withValue(host.connection) { _ = Task { await body() } }
    }
}
