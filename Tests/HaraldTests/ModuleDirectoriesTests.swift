import Foundation
import TestBasics
import Testing

@testable import harald

/// A wrapped package is recompiled if and only if the modules directory changes its name.
@Suite struct ModuleDirectoriesTests {
    @Test func modulesOfTheSameLibraryAreWhereTheyWere() throws {
        let built = try BuiltLibrary()
        let place = try built.make()
        try built.write("layout", to: "harald/.build/products/Modules/CoreBluetooth.swiftmodule")
        #expect(try built.make() == place)
        #expect(try built.text("CoreBluetooth.swiftmodule", in: place) == "layout")
        #expect(try built.text("CCoreBluetooth/CCoreBluetooth.h", in: place) == "header")
    }

    @Test(
        arguments: [
            "harald/.build/products/libHaraldCompatibility.so",
            "harald/.build/products/Modules/CoreBluetooth.swiftmodule",
            "harald/Sources/App/CCoreBluetooth/include/CCoreBluetooth.h",
        ]
    )
    func modulesOfAnotherLibraryAreElsewhereAndTheOldOnesGone(_ changed: String) throws {
        let built = try BuiltLibrary()
        let old = try built.make()
        try built.write("another", to: changed)
        let new = try built.make()
        #expect(new != old)
        #expect(try built.directories() == [URL(fileURLWithPath: new).lastPathComponent])
    }

    @Test func modulesThatAnEndedProcessLeftUnfinishedAreMadeAnew() throws {
        let built = try BuiltLibrary()
        let place = try built.make()
        try FileManager.default.moveItem(atPath: place, toPath: place + "-unfinished")
        #expect(try built.make() == place)
        #expect(try built.directories() == [URL(fileURLWithPath: place).lastPathComponent])
    }
}

/// The relevant output of a library build, in a directory that is removed with this object.
private final class BuiltLibrary {
    private let above = TemporaryDirectory.uncreated()

    init() throws {
        try write("// a manifest", to: "harald/Compatibility/Package.swift")
        try write("code", to: "harald/.build/products/libHaraldCompatibility.so")
        try write("layout", to: "harald/.build/products/Modules/CoreBluetooth.swiftmodule")
        try write("module CCoreBluetooth {}", to: "harald/Sources/App/CCoreBluetooth/include/module.modulemap")
        try write("header", to: "harald/Sources/App/CCoreBluetooth/include/CCoreBluetooth.h")
        try FileManager.default.createDirectory(
            atPath: above.file("harald/.build/checkouts"),
            withIntermediateDirectories: true
        )
    }

    func write(_ text: String, to name: String) throws { try above.write(text, to: name) }

    /// A file as the package finds it when compiled against these modules.
    func text(_ name: String, in place: String) throws -> String { try TextFile.read("\(place)/corebluetooth/\(name)") }

    func make() throws -> String {
        try ModuleDirectories(
            home: try HaraldPackage(named: above.file("harald")),
            scratch: ScratchDirectory(path: above.file("harald/.build")),
            products: above.file("harald/.build/products")
        ).make()
    }

    func directories() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: above.file("harald/.build/modules"))
    }
}
