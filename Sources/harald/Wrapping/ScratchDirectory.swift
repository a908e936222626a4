import Foundation

/// Where all that is built lies, so that neither the package nor the toolchain is touched.
struct ScratchDirectory {
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// Where Core Bluetooth and the stand-ins are built.
    var libraries: String { path }

    /// Where the modules lie that packages see, in a directory for each state of the libraries.
    var modules: String { path + "/modules" }

    /// Where a package is built; those of one name lie apart.
    func build(of package: String) -> String { "\(path)/wrapped\(package)/+build" }

    /// Where the copy of a package is. SwiftPM takes the last part of a path for the identity of a package.
    func copy(of package: String) -> String {
        "\(path)/wrapped\(package)/+copy/\(URL(fileURLWithPath: package).lastPathComponent)"
    }
}
