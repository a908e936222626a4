import BluetoothTypes
import Testing

@testable import SMP

/// Assigned numbers and bits of the specification.
@Suite struct AssignedValuesTests {
    /// Core Vol 3 Part H 3.5.5.
    static let reasons: [(UInt8, PairingFailure, String)] = [
        (0x01, .passkeyEntryFailed, "the passkey was not entered"),
        (0x02, .outOfBandNotAvailable, "out-of-band data is missing"),
        (0x03, .authenticationRequirements, "the required security cannot be achieved"),
        (0x04, .confirmValueFailed, "a confirm value does not match"),
        (0x05, .pairingNotSupported, "pairing is not supported"),
        (0x06, .encryptionKeySize, "the key would be too short"),
        (0x07, .commandNotSupported, "the command is not supported"),
        (0x08, .unspecifiedReason, "unspecified reason"),
        (0x09, .repeatedAttempts, "too soon after a failed attempt"),
        (0x0A, .invalidParameters, "a parameter is invalid"),
        (0x0B, .dhKeyCheckFailed, "the DHKey check does not match"),
        (0x0C, .numericComparisonFailed, "the numbers differ"),
        (0x0D, .pairingOnOtherTransport, "pairing over BR/EDR is in progress"),
        (0x0E, .crossTransportNotAllowed, "cross-transport keys are not allowed"),
        (0x0F, .keyRejected, "a key was rejected"),
        (0x10, .busy, "busy"),
    ]

    @Test(arguments: reasons)
    func a_pairing_fails_with_the_reason_of_the_specification(
        number: UInt8,
        reason: PairingFailure,
        text: String
    ) throws {
        #expect(PairingFailed(reason).framed().bytes == [0x05, number])
        #expect(try SMPCommand([0x05, number]) == .failed(PairingFailed(reason)))
        #expect("\(reason)" == text)
    }

    @Test func reasons_without_a_name_are_shown_by_their_numbers() {
        #expect(Set(Self.reasons.map(\.0)) == Set(0x01...0x10))
        for number: UInt8 in [0x00, 0x11, 0xFF] { #expect("\(PairingFailure(rawValue: number))" == "reason \(number)") }
    }

    /// AuthReq: two bits of Bonding_Flags, MITM, SC, Keypress, CT2 (Core Vol 3 Part H 3.5.1).
    @Test(
        arguments: [
            (0x01, .bonding, "[bonding]"), (0x04, .protection, "[MITM]"), (0x08, .secureConnections, "[SC]"),
            (0x10, .keypress, "[keypress]"), (0x20, .h7, "[CT2]"), (0x00, [], "[]"),
            (0x3D, [.bonding, .protection, .secureConnections, .keypress, .h7], "[bonding, MITM, SC, keypress, CT2]"),
        ] as [(UInt8, AuthenticationRequirements, String)]
    )
    func each_bit_of_AuthReq_is_the_one_of_the_specification(
        octet: UInt8,
        requirements: AuthenticationRequirements,
        text: String
    ) throws {
        var features = PairingFeatures()
        features.requirements = requirements
        #expect(PairingRequest(features).framed().bytes == [0x01, 3, 0, octet, 16, 0, 0])
        #expect(PairingResponse(features).framed().bytes == [0x02, 3, 0, octet, 16, 0, 0])
        #expect(SecurityRequest(requirements).framed().bytes == [0x0B, octet])
        #expect("\(requirements)" == text)
        // No bit implies another, and reserved bits are ignored.
        for bit: UInt8 in 0..<8 {
            let heard = AuthenticationRequirements(rawValue: 1 << bit)
            #expect(heard.isSuperset(of: requirements) == (octet == 0 || octet == 1 << bit))
        }
    }

    /// Core Vol 3 Part H 3.6.1.
    @Test(arguments: [(0x01, .encryption), (0x02, .identity), (0x04, .signing), (0x08, .link)] as [(UInt8, KeyKinds)])
    func each_kind_of_key_has_the_bit_of_the_specification(octet: UInt8, kind: KeyKinds) {
        var features = PairingFeatures()
        features.initiatorKeys = kind
        #expect(PairingRequest(features).framed().bytes.suffix(2) == [octet, 0])
        (features.initiatorKeys, features.responderKeys) = ([], kind)
        #expect(PairingRequest(features).framed().bytes.suffix(2) == [0, octet])
    }

    /// Core Vol 3 Part H 2.3.2, table 2.4 in 3.5.1.
    @Test func capabilities_are_numbered_as_in_the_specification() {
        let named: [IOCapability] = [.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay]
        #expect(named.map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(IOCapability.all == named)
        #expect(Set(named.map(\.description)).count == 5 && named[2].description == "keyboard only")
        #expect(IOCapability(rawValue: 5).description == "capability 5")
    }

    /// Core Vol 3 Part H 3.5.8.
    @Test(
        arguments: [
            (0, .started), (1, .digitEntered), (2, .digitErased), (3, .cleared), (4, .completed),
        ] as [(UInt8, KeypressNotification.Kind)]
    )
    func keypresses_are_numbered_as_in_the_specification(octet: UInt8, kind: KeypressNotification.Kind) {
        #expect(KeypressNotification(kind).framed().bytes == [0x0E, octet])
    }

    /// The last value that is defined, and the first that is reserved (Core Vol 3 Part H 3.5.1).
    @Test("AB-S04: pairing features are valid up to the last defined value")
    func features_are_valid_up_to_the_last_value_that_is_defined() {
        for capability in UInt8.min...UInt8.max {
            var features = PairingFeatures()
            features.ioCapability = IOCapability(rawValue: capability)
            #expect(features.isValid == (capability <= 4))
        }
        for flag in UInt8.min...UInt8.max {
            var features = PairingFeatures()
            features.outOfBandFlag = flag
            #expect(features.isValid == (flag == 0 || flag == 1))
        }
        for size in UInt8.min...UInt8.max {
            var features = PairingFeatures()
            features.maximumKeySize = size
            #expect(features.isValid == (size >= 7 && size <= 16))
        }
    }

    /// The input of f6: the IO capability in the most significant octet, then the OOB data flag, then AuthReq (Core Vol
    /// 3 Part H 2.2.8).
    @Test("the check covers the three fields that determine the pairing method")
    func the_check_covers_what_decides_how_to_pair() {
        var features = PairingFeatures()
        features.ioCapability = .keyboardDisplay
        features.outOfBandFlag = 1
        features.requirements = AuthenticationRequirements(rawValue: 0xC9)
        #expect(features.capabilities == [0xC9, 1, 4])
    }
}

/// Key strength (Core Vol 3 Part C 10.2.1), each property separately.
@Suite struct KeyLevelTests {
    private static let qualities = [false, true]

    /// The levels 2 to 4 of security mode 1, and a level 2 that requires a long key.
    private static let asked: [(SecurityLevel, size: Int, isAuthenticated: Bool, isSecureConnections: Bool)] = [
        (.encrypted, 7, false, false), (.authenticated, 7, true, false), (.secureConnections, 16, true, true),
        (SecurityLevel.encrypted.with(keySize: 12), 12, false, false),
    ]

    /// Every key against every level: it suffices if it falls short in nothing.
    @Test(arguments: qualities, qualities)
    func a_key_that_falls_short_in_one_thing_will_not_do(isAuthenticated: Bool, isSecureConnections: Bool) {
        for size in 7...16 {
            let key = KeyLevel(
                keySize: size,
                isAuthenticated: isAuthenticated,
                isSecureConnections: isSecureConnections
            )
            for level in Self.asked {
                let faults = [
                    size < level.size, level.isAuthenticated && !isAuthenticated,
                    level.isSecureConnections && !isSecureConnections,
                ]
                #expect(level.0.isMet(by: key) == !faults.contains(true), "\(size) for \(level)")
            }
        }
    }

    /// AB-S10: one key is longer, but weaker in another property.
    @Test(
        "AB-S10: a key is at least as good as another one if it is weaker in no property",
        arguments: [
            (16, true, true, true), (16, true, false, false), (16, false, true, false), (16, false, false, false),
            (12, true, true, true), (11, true, true, false),
        ]
    )
    func a_key_that_is_worse_in_nothing_is_as_good(
        size: Int,
        isAuthenticated: Bool,
        isSecureConnections: Bool,
        isAtLeast: Bool
    ) {
        let old = KeyLevel(keySize: 12, isAuthenticated: true, isSecureConnections: true)
        let new = KeyLevel(keySize: size, isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections)
        #expect(new.isAtLeast(old) == isAtLeast)
        // No key is worse than the weakest one, and every key is at least as good as itself.
        #expect(new.isAtLeast(KeyLevel(keySize: 7, isAuthenticated: false, isSecureConnections: false)))
        #expect(new.isAtLeast(new))
    }
}
