import Foundation
import LinkLayer
import Testing

@testable import RadioEnergy

/// Radio profiles, built in and from files.
@Suite struct ProfileTests {
    @Test("the built-in profiles are files of the format")
    func builtIn() throws {
        #expect(RadioProfile.all.map(\.name) == ["nRF52832", "nRF54L15", "CC2340R5"])
        for (profile, file) in zip(RadioProfile.all, RadioProfile.files) {
            #expect(try RadioProfile(json: file.json) == profile)
            #expect(profile.millivolts == 3_000 && profile.receiveCurrent(for: .le1M) > 3_000_000)
        }
        #expect(RadioProfile.nrf52832.transmitCurrent(at: 0) == 7_100_000)
    }

    @Test("transmit currents are interpolated between levels, and constant beyond them")
    func levels() {
        let profile = RadioProfile.cc2340r5
        #expect(profile.transmitCurrent(at: -100) == 4_000_000 && profile.transmitCurrent(at: -8) == 4_000_000)
        #expect(profile.transmitCurrent(at: -4) == 4_550_000 && profile.transmitCurrent(at: 2) == 6_400_000)
        #expect(profile.transmitCurrent(at: 8) == 10_700_000 && profile.transmitCurrent(at: 20) == 10_700_000)
    }

    @Test("the sleep current counts for all of the time")
    func sleep() {
        let charge = RadioProfile.nrf52832.sleepCharge(for: .seconds(3_600) + .microseconds(1))
        #expect(charge.femtocoulombs == 1_500 * 3_600_000_001)
    }

    private static let good = RadioProfile.files[0].json

    @Test(
        "errors in files name their place",
        arguments: [
            ("\"format\": 1", "\"format\": 2", "format: this version is unknown; write 1"),
            ("\"volts\": 3.0", "\"volts\": true", "supply.volts: write a number from 0.5 to 20.0 here"),
            ("\"dBm\": 0", "\"dBm\": -40", "transmit[1]: list the levels by rising dBm"),
            ("\"1M\": {", "\"3M\": {", "receive: the member \"3M\" is unknown; known are 1M, 2M, coded"),
            ("\"microamperes\": 1.5,", "\"nanoamperes\": 3,", "sleep: the member \"nanoamperes\" is unknown"),
            ("\"microcoulombs\": 2.33,\n", "\"microcoulombs\": -1,\n", "wakeUp.microcoulombs: write a number from 0.0"),
            ("\"name\": \"nRF52832\"", "\"name\": \"\"", "name: write a text here"),
            ("{", "[", "this is not JSON"),
        ]
    )
    func errors(old: String, new: String, message: String) throws {
        let range = try #require(Self.good.range(of: old))
        let text = Self.good.replacingCharacters(in: range, with: new)
        let error = #expect(throws: RadioProfileError.self) { try RadioProfile(json: text) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test("a number without a source is an error, and so is a file that is missing or too long")
    func sources() {
        let text = Self.good.replacingOccurrences(of: "\"source\"", with: "\"from\"")
        #expect(throws: RadioProfileError.self) { try RadioProfile(json: text) }
        #expect(throws: RadioProfileError.self) { try RadioProfile(contentsOf: URL(fileURLWithPath: "/nonexistent")) }
        #expect(throws: RadioProfileError.self) { try RadioProfile(json: String(repeating: " ", count: 70_000)) }
    }

    @Test("AB-F01: a profile whose values are changed at random is refused, or no charge is negative or overflows")
    func changedValues() throws {
        var state: UInt64 = 5
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let values = [
            "0", "-0", "-1", "1e999", "1e-999", "1e18", "0.5", "20", "1000", "999999.9999", "null", "[]", "\"1\"",
            "true",
        ]
        let numbers = Self.good.ranges(of: #/[0-9]+(\.[0-9]+)?/#)
        var accepted = 0
        for _ in 0..<3_000 {
            var text = Self.good
            for range in (0...below(2)).map({ _ in numbers[below(numbers.count)] }).sorted(by: {
                $0.lowerBound > $1.lowerBound
            }) {
                guard range.upperBound <= text.endIndex else { continue }
                text.replaceSubrange(range, with: values[below(values.count)])
            }
            guard let profile = try? RadioProfile(json: text) else { continue }
            accepted += 1
            for volts in [0.5, 3, 20, .nan, .infinity] {
                let supplied = profile.supplied(at: volts)
                #expect(supplied.sleepCharge(for: .seconds(1 << 32)) >= .zero)
                #expect(supplied.wakeUp >= .zero)
                #expect((Int8.min...Int8.max).allSatisfy { supplied.transmitCurrent(at: $0) >= 0 })
            }
        }
        #expect(accepted > 100)
    }

    @Test("AB-F03: a pipe, a device or a directory in place of a profile is refused at once")
    func noFiles() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "profile-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", "/dev/tty", "/tmp"] {
            let error = #expect(throws: RadioProfileError.self) {
                try RadioProfile(contentsOf: URL(fileURLWithPath: path))
            }
            #expect(error?.description.contains("cannot read the file: ") == true)
        }
    }

    @Test("cut files of each length are refused")
    func cutFiles() {
        let octets = Array(Self.good.utf8)
        for length in stride(from: 0, to: octets.count - 2, by: 7) {
            #expect(throws: RadioProfileError.self) { try RadioProfile(json: octets.prefix(length)) }
        }
    }
}
