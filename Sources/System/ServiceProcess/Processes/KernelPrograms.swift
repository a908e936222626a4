import CLinux
import EventLoops
import Foundation

/// Starts programs with posix_spawn(3), and waits for each by its process handle on a thread of its own. It is not
/// affected by what a program does with its inherited descriptors, how long its file takes to load, or how other
/// programs end.
///
/// Foundation's `Process` is unsuitable: it detects the end of a child through a descriptor that the child inherits. If
/// a child closes that early, Foundation blocks until the child ends, and reports no other end meanwhile.
package final class KernelPrograms: ProgramLauncher {
    private let loop: any EventLoop
    private let descriptor: @Sendable (Int32) -> ProcessDescriptor?

    /// - Parameter descriptor: Opens the handle of a process; nil if the kernel provides none. Programs are then
    ///   awaited by number, and cannot be sent signals.
    package init(
        loop: any EventLoop,
        descriptor: @escaping @Sendable (Int32) -> ProcessDescriptor? = { ProcessDescriptor(of: $0) }
    ) {
        self.loop = loop
        self.descriptor = descriptor
    }

    package func start(_ program: Program, _ report: @escaping (ProgramEvent) -> Void) {
        let report = LoopBound(report, loop: loop)
        let descriptor = descriptor
        SideQueue.run {
            switch program.spawn() {
            case .failure(let failure): report.loop.submit { report.value(.notStarted(code: failure.code)) }
            case .success(let process):
                // The number cannot be reused before the child is reaped below.
                let held = descriptor(process)
                report.loop.submit {
                    report.value(.started(StartedProgram(process: process) { held?.signal($0) }))
                }
                let end = held?.waitForEnd(of: process) ?? .awaited(descriptor: -1, process: process)
                report.loop.submit { report.value(.ended(end)) }
            }
        }
    }
}

/// The reason why a program could not be started.
private struct SpawnError: Error {
    let code: Int32
}

extension Program {
    /// Starts the program. Blocks until its file has been loaded, perhaps from a network file system.
    fileprivate func spawn() -> Result<Int32, SpawnError> {
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let texts = [path] + arguments + variables
        // The kernel would cut a text at a null octet.
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { return .failure(SpawnError(code: EINVAL)) }
        var process: Int32 = 0
        let code = withCStrings([path] + arguments) { arguments in
            withCStrings(variables) { variables in
                harald_spawn(path, arguments, variables, output == .discarded ? 1 : 0, &process)
            }
        }
        return code == 0 ? .success(process) : .failure(SpawnError(code: code))
    }
}

extension ProgramEnd {
    /// Waits for a child to end, and reaps it. Blocks the thread.
    static func awaited(descriptor: Int32, process: Int32) -> ProgramEnd {
        var (status, isSignal): (Int32, Int32) = (0, 0)
        let code = harald_wait(descriptor, process, &status, &isSignal)
        guard code == 0 else { return .unknown(code: code) }
        return isSignal == 0 ? .exited(status: status) : .killed(signal: status)
    }
}

/// Calls `body` with the texts as a null-terminated array of C strings.
private func withCStrings<Result>(
    _ texts: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
) -> Result {
    let pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
