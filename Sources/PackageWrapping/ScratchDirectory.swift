import Foundation

/// The directory for all build output, so that neither the package nor the toolchain is modified.
struct ScratchDirectory {
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// The build directory of Core Bluetooth and the stand-ins.
    var libraries: String { path }

    /// The modules that packages see, with a directory for each state of the libraries.
    var modules: String { path + "/modules" }

    /// Returns the build directory of a package. It contains the package's path, so that packages of the same name do
    /// not collide.
    func build(of package: String) -> String { "\(path)/wrapped\(package)/+build" }

    /// Returns the directory for the copy of a package. Its last component is the package's, because SwiftPM derives
    /// the package's identity from it.
    func copy(of package: String) -> String {
        "\(path)/wrapped\(package)/+copy/\(URL(fileURLWithPath: package).lastPathComponent)"
    }
}
