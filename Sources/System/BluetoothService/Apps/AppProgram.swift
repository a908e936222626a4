/// The program that a process of an app runs.
package struct AppProgram: Hashable, Sendable {
    /// The path of the executable as the kernel reports it, or nil if unknown.
    package var executable: String?
    /// Whether the service launched the process, which then receives the app's preserved state, whatever it runs.
    package var isLaunched: Bool

    package init(_ executable: String? = nil, isLaunched: Bool = false) {
        self.executable = executable
        self.isLaunched = isLaunched
    }
}
