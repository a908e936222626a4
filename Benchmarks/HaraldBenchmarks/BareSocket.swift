import CLinux
import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A thread that is woken through a socket, without Harald at either end: the lower limit for a service in another
/// process.
enum BareSocket {
    /// The median time from a write to the return of the read, for single octets, in nanoseconds.
    static func delay(samples: Int) -> Int {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, harald_SOCK_STREAM, 0, &ends) == 0 else { return 0 }
        defer { ends.forEach { close($0) } }
        let (reading, done) = (ends[1], DispatchSemaphore(value: 0))
        // Safe: written only by the thread, and read after it has finished.
        nonisolated(unsafe) var delays: [Int] = []
        Thread.detachNewThread {
            for _ in 0..<samples {
                var sent: UInt64 = 0
                guard read(reading, &sent, 8) == 8 else { break }
                delays.append(Int(DispatchTime.now().uptimeNanoseconds - sent))
            }
            done.signal()
        }
        for _ in 0..<samples {
            Thread.sleep(forTimeInterval: 0.001)
            var now = DispatchTime.now().uptimeNanoseconds
            _ = write(ends[0], &now, 8)
        }
        done.wait()
        return delays.isEmpty ? 0 : delays.sorted()[delays.count / 2]
    }
}
