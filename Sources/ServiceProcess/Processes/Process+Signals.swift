import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Process {
    /// Runs the program as a shell would: with no signal blocked, whatever the thread that this is called on blocks. Dispatch's block nearly
    /// all, and a program keeps that (sigprocmask(2)): it could not be ended in good order.
    func runUnblocked() throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
