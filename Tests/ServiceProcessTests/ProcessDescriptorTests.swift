import Foundation
import TestBasics
import Testing

@testable import ServiceProcess

/// Processes of the operating system, referred to by their descriptors.
@Suite struct ProcessDescriptorTests {
    /// A program that runs until it is ended.
    private func program() throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        // It reads from a pipe that stays empty.
        process.standardInput = Pipe()
        process.standardOutput = FileHandle.nullDevice
        // A program inherits the signal mask of the thread that starts it: with Dispatch's mask it could not be ended.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        return process
    }

    @Test("a process descriptor stays valid until the process has ended, and signals reach only that process")
    func aProcessThatIsHeld() throws {
        let first = try program()
        let second = try program()
        defer { second.terminate() }
        let held = try #require(ProcessDescriptor(of: first.processIdentifier))
        let other = try #require(ProcessDescriptor(of: second.processIdentifier))
        #expect(held.isRunning)
        #expect(other.isRunning)
        held.signal(SIGTERM)
        first.waitUntilExit()
        #expect(first.terminationReason == .uncaughtSignal)
        #expect(first.terminationStatus == SIGTERM)
        #expect(!held.isRunning)
        #expect(other.isRunning)
        // A signal to an ended process goes nowhere, even if its number is reused.
        held.signal(SIGKILL)
        #expect(second.isRunning)
        #expect(ProcessDescriptor(of: 0x7FFF_FFF0) == nil)
    }

    @Test("AB-G05: a process is identified by the descriptor of its connection, whatever its number")
    func processesAreIdentifiedByTheirDescriptor() throws {
        let process = try program()
        defer { process.terminate() }
        let number = process.processIdentifier
        let table = ProcessTable(user: 1, descriptor: { _ in nil }, beginning: { _ in "7" }, signal: { _, _ in })
        func known(_ number: Int32, _ descriptor: ProcessDescriptor?) -> KnownProcess? {
            KnownProcess(of: Caller(process: number, user: 1, group: 1, descriptor: descriptor), in: table)
        }
        let held = try #require(ProcessDescriptor(of: number))
        guard case .held = known(number, held), case .numbered(7, "7") = known(7, nil) else {
            return recordIssue("it is known by something else")
        }
        #expect(known(1, held) == nil)
        #expect(known(0, held) == nil)
        #expect(known(getpid(), held) == nil)
        guard case .held = KnownProcess(of: Caller(process: number, user: 1, group: 1), in: .ofKernel) else {
            return recordIssue("the kernel is not asked")
        }
    }
}
