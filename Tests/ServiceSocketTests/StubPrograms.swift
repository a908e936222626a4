import EventLoops

@testable import ServiceProcess

/// Programs that run in no process, and end when a test says so. On the loop.
final class StubPrograms: ProgramLauncher {
    struct Run {
        let program: Program
        let report: (ProgramEvent) -> Void
        var isOver = false
    }

    /// The error number with which starts are refused; nil while they are not.
    var refusal: Int32?
    /// Whether starts stay without an answer, as where a program's file does not load.
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

    /// The paths of the programs that were started so far.
    var paths: [String] { runs.map(\.program.path) }

    /// Ends the oldest program that runs.
    func end(_ end: ProgramEnd = .exited(status: 1)) {
        guard let index = runs.firstIndex(where: { !$0.isOver }) else { return }
        runs[index].isOver = true
        runs[index].report(.ended(end))
    }
}
