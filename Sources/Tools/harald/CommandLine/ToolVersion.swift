import CTool

/// The version of the tool, and the build's origin.
enum ToolVersion {
    /// The number of the release, or with `-dev` of the next one. Packaging/build derives its versions from this.
    static let number = "0.1.0-dev"

    static var text: String {
        let build = harald_commit().map { "commit \(String(cString: $0))" } ?? "development build"
        return "harald \(number), \(build), Swift \(harald_compiler().map { String(cString: $0) } ?? compiler)"
    }

    /// The version of the compiler as far as the language reports it.
    private static var compiler: String {
        #if compiler(>=6.4)
            "6.4 or later"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}
