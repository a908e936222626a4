/// The program that a process of an app runs.
package struct AppProgram: Hashable, Sendable {
    /// Its path, as the kernel names it; nil where that is not known.
    package var executable: String?
    /// Whether the service has launched the process itself: then it gets what was kept of the app, whatever the program is.
    package var isLaunched: Bool

    /// A program.
    package init(_ executable: String? = nil, isLaunched: Bool = false) {
        self.executable = executable
        self.isLaunched = isLaunched
    }
}
