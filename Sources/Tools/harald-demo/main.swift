import Demos
import EventLoops
import Foundation

// The heart-rate demo by itself, without sockets and a command line: it builds in half the time of `harald`.

func fail(_ reason: String) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("harald-demo: \(reason)\n".utf8))
    exit(1)
}

let demo = HeartRateDemo(at: .realTime) { line in
    do {
        // Not `print`, which keeps lines back unless it writes to a terminal.
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    } catch {
        fail("cannot write: \(error.localizedDescription)")
    }
}
do throws(HeartRateDemo.Failure) {
    try demo.run()
} catch {
    fail("\(error)")
}
