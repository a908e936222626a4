extension RadioProfile {
    /// Nordic Semiconductor nRF52832 at 3 V, with its DC/DC converter.
    public static let nrf52832 = builtIn(Chips.nrf52832)
    /// Nordic Semiconductor nRF54L15 at 3 V, with its DC/DC converter.
    public static let nrf54l15 = builtIn(Chips.nrf54l15)
    /// Texas Instruments CC2340R5 at 3 V, with its DC/DC converter.
    public static let cc2340r5 = builtIn(Chips.cc2340r5)

    /// The built-in profiles, by name.
    public static let all: [RadioProfile] = [.nrf52832, .nrf54l15, .cc2340r5]

    /// The files of the built-in profiles, as examples of the format: the text by name.
    public static let files: [(name: String, json: String)] = [
        ("nrf52832", Chips.nrf52832), ("nrf54l15", Chips.nrf54l15), ("cc2340r5", Chips.cc2340r5),
    ]

    private static func builtIn(_ json: String) -> RadioProfile {
        do {
            return try RadioProfile(json: json)
        } catch {
            preconditionFailure("a built-in radio profile is wrong: \(error)")
        }
    }
}

/// The files of the built-in profiles.
private enum Chips {
    static let nrf52832 = #"""
        {
          "format": 1,
          "name": "nRF52832",
          "description": "Nordic nRF52832, 3 V, DC/DC converter, 32 kHz crystal",
          "supply": {"volts": 3.0, "source": "nRF52832 Product Specification v1.1, Power and clock management, Table 1"},
          "transmit": [
            {"dBm": -40, "milliamperes": 4.1,
              "source": "nRF52832 PS v1.1, pages 76 and 77, Current consumption: Radio, IRADIO_TX1"},
            {"dBm": 0, "milliamperes": 7.1,
              "source": "nRF52832 PS v1.1, pages 76 and 77, Current consumption: Radio, IRADIO_TX0"}
          ],
          "receive": {
            "1M": {"milliamperes": 6.5,
              "source": "nRF52832 PS v1.1, pages 76 and 77, Current consumption: Radio, IRADIO_RX0"}
          },
          "rampUp": {
            "transmit": {"microseconds": 0, "milliamperes": 0, "source": "no figure at hand: part of wakeUp"},
            "receive": {"microseconds": 0, "milliamperes": 0, "source": "no figure at hand: part of wakeUp"}
          },
          "idle": {"milliamperes": 0, "source": "no figure at hand: part of wakeUp"},
          "sleep": {"microamperes": 1.5,
            "source": "nRF52832 PS v1.1, pages 76 and 77, System ON, full RAM retention, wake on any event"},
          "wakeUp": {"microcoulombs": 2.33,
            "source": "derived: Nordic Online Power Profiler for nRF52832, 0 dBm, 3.3 V, as recorded in github.com/hutscape/palm, power.md: 6.4 µA for a connection, 1000 ms, 3 octets, and 57 µA for advertising, 152.5 ms, 0 octets; less sleep and radio, between both"}
        }
        """#

    static let nrf54l15 = #"""
        {
          "format": 1,
          "name": "nRF54L15",
          "description": "Nordic nRF54L15, 3 V, DC/DC converter, 32 kHz crystal, 256 kB of RAM retained",
          "supply": {"volts": 3.0, "source": "nRF54L15 Datasheet, Current consumption, Conditions, Table 1"},
          "transmit": [
            {"dBm": 0, "milliamperes": 4.8,
              "source": "nRF54L15 Datasheet, Current consumption, Radio transmitting/receiving, IRADIO_TX0"},
            {"dBm": 4, "milliamperes": 6.6,
              "source": "nRF54L15 Datasheet, Current consumption, Radio transmitting/receiving, IRADIO_TX1"},
            {"dBm": 8, "milliamperes": 9.8,
              "source": "nRF54L15 Datasheet, Current consumption, Radio transmitting/receiving, IRADIO_TX2"}
          ],
          "receive": {
            "1M": {"milliamperes": 3.4,
              "source": "nRF54L15 Datasheet, Current consumption, Radio transmitting/receiving, IRADIO_RX0"},
            "2M": {"milliamperes": 3.6,
              "source": "nRF54L15 Datasheet, Current consumption, Radio transmitting/receiving, IRADIO_RX1"}
          },
          "rampUp": {
            "transmit": {"microseconds": 40, "milliamperes": 3.4,
              "source": "time: nRF54LM20A Datasheet, RADIO, Timing, tTXEN,FAST,BLE,1M; current: no figure at hand, that of the receiver"},
            "receive": {"microseconds": 40, "milliamperes": 3.4,
              "source": "time: nRF54LM20A Datasheet, RADIO, Timing, tRXEN,FAST,BLE,1M; current: no figure at hand, that of the receiver"}
          },
          "idle": {"milliamperes": 0.55,
            "source": "nRF54L15 Datasheet, Current consumption, Sleep, ION_IDLE11: System ON, constant latency"},
          "sleep": {"microamperes": 2.9,
            "source": "nRF54L15 Datasheet, Current consumption, Sleep, ION_IDLE8: System ON, GRTC, LFXO, 256 kB RAM"},
          "wakeUp": {"microcoulombs": 1.0,
            "source": "derived: BlueJoule, captures/js220/nrf-54-dk/zephyr-3V0: 16.281 µJ at 2.99 V for an event with 17 octets on 3 channels at 0 dBm; less radio"}
        }
        """#

    static let cc2340r5 = #"""
        {
          "format": 1,
          "name": "CC2340R5",
          "description": "Texas Instruments CC2340R5, 3 V, DC/DC converter",
          "supply": {"volts": 3.0, "source": "CC2340R5 data sheet JAJSQG9C, section 7.10 (conditions: DCDC on)"},
          "transmit": [
            {"dBm": -8, "milliamperes": 4.0,
              "source": "CC2340R5 data sheet JAJSQG9C (April 2023, revised June 2023), section 7.10, ITX at -8 dBm"},
            {"dBm": 0, "milliamperes": 5.1, "source": "CC2340R5 data sheet JAJSQG9C, section 7.10, ITX at 0 dBm"},
            {"dBm": 4, "milliamperes": 7.7, "source": "CC2340R5 data sheet JAJSQG9C, section 7.10, ITX at +4 dBm"},
            {"dBm": 6, "milliamperes": 8.9, "source": "CC2340R5 data sheet JAJSQG9C, section 7.10, ITX at +6 dBm"},
            {"dBm": 8, "milliamperes": 10.7, "source": "CC2340R5 data sheet JAJSQG9C, section 7.10, ITX at +8 dBm"}
          ],
          "receive": {
            "1M": {"milliamperes": 5.3, "source": "CC2340R5 data sheet JAJSQG9C, section 7.10, IRX, 1 Mbps"}
          },
          "rampUp": {
            "transmit": {"microseconds": 75, "milliamperes": 3.0,
              "source": "derived: TI SWRA793A, Table 6-2, 1M, 0 dBm, 1 s, 0 octets: 11.6 µA; less sleep, radio and wakeUp"},
            "receive": {"microseconds": 75, "milliamperes": 3.0,
              "source": "derived, as for the transmitter: both are taken to be alike"}
          },
          "idle": {"milliamperes": 0.8,
            "source": "CC2340R2 data sheet SWRS282 (the same core), Power Consumption - Power Modes, Icore, Idle, DMA disabled"},
          "sleep": {"microamperes": 0.71,
            "source": "CC2340R2 data sheet SWRS282 (the same core), Power Consumption - Power Modes, Icore, Standby, LFOSC"},
          "wakeUp": {"microcoulombs": 3.59,
            "source": "derived: TI SWRA793A, Table 6-1, 1M, 0 dBm, 1 s: 7 µA; less sleep, radio and ramp-ups"}
        }
        """#
}
