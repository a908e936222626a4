import EventLoops

@testable import ServiceProcess

/// Programs without a process that end when a test says so. Accessed on the loop.
final class StubPrograms: ProgramLauncher {
    struct Run {
        let program: Program
        let report: (ProgramEvent) -> Void
        var isOver = false
    }

    /// The error number with which starts fail, or nil.
    var refusal: Int32?
    /// Whether starts never complete, as when a program's file does not load.
    var isStuck = false
    private(set) var runs: [Run] = []
    private(set) var signals: [Int32] = []
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func start(_ program: Program, _ report: @escaping (ProgramEvent) -> Void) {
        let index = runs.count
        runs.append(Run(program: program, report: report))
        guard !isStuck else { return }
        loop.execute { [self] in
            if let refusal {
                runs[index].isOver = true
                return report(.notStarted(code: refusal))
            }
            report(.started(StartedProgram(process: 100 + Int32(index)) { [weak self] in self?.signals.append($0) }))
        }
    }

    /// The paths of the programs started so far.
    var paths: [String] { runs.map(\.program.path) }

    /// Ends the oldest running program.
    func end(_ end: ProgramEnd = .exited(status: 1)) {
        guard let index = runs.firstIndex(where: { !$0.isOver }) else { return }
        runs[index].isOver = true
        runs[index].report(.ended(end))
    }
}
