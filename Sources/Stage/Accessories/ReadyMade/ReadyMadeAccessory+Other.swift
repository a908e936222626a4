extension ReadyMadeAccessory {
    static let batteryFile = """
        {
          "format": 1,
          "name": "Battery",
          "description": "A device whose battery loses one percent a minute, and is charged after four.",
          "advertising": {"services": ["Battery"]},
          "services": [
            {
              "uuid": "Battery",
              "characteristics": [
                {
                  "uuid": "Battery Level",
                  "properties": ["read", "notify"],
                  "value": {"uint8": 100},
                  "changes": [
                    {"after": 60, "value": {"uint8": 99}},
                    {"after": 60, "value": {"uint8": 98}},
                    {"after": 60, "value": {"uint8": 97}},
                    {"after": 60, "value": {"uint8": 100}}
                  ],
                  "repeat": true
                }
              ]
            }
          ]
        }
        """

    static let uartFile = """
        {
          "format": 1,
          "name": "UART",
          "description": "A Nordic UART that sends back what it receives.",
          "advertising": {"services": ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"]},
          "services": [
            {
              "uuid": "6E400001-B5A3-F393-E0A9-E50E24DCCA9E",
              "characteristics": [
                {
                  "uuid": "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
                  "properties": ["write", "writeWithoutResponse"],
                  "descriptors": [{"uuid": "2901", "value": {"text": "Input"}}],
                  "onWrite": [{"then": [{"notify": "output", "value": {"written": {}}}]}]
                },
                {
                  "uuid": "6E400003-B5A3-F393-E0A9-E50E24DCCA9E",
                  "id": "output",
                  "properties": ["notify"],
                  "descriptors": [{"uuid": "2901", "value": {"text": "Output"}}]
                }
              ]
            }
          ]
        }
        """

    static let tagFile = """
        {
          "format": 1,
          "name": "Tag",
          "description": "A tag with the Ranging Service, to which the distance can be measured.",
          "advertising": {"services": ["Ranging"]},
          "channelSounding": true
        }
        """

    static let iBeaconFile = """
        {
          "format": 1,
          "name": "iBeacon",
          "description": "An iBeacon: UUID, major 1, minor 2, and -59 dBm at one metre.",
          "advertising": {
            "name": null,
            "interval": 0.1,
            "connectable": false,
            "manufacturerData": {"company": 76, "data": "0215 E2C56DB5DFFB48D2B060D0F5A71096E0 0001 0002 C5"}
          }
        }
        """

    static let eddystoneFile = """
        {
          "format": 1,
          "name": "Eddystone",
          "description": "An Eddystone-UID beacon: -20 dBm at no distance, a namespace and an instance.",
          "advertising": {
            "name": null,
            "interval": 0.5,
            "connectable": false,
            "services": ["FEAA"],
            "serviceData": [{"uuid": "FEAA", "value": "00 EC 8B0CA750095477CB3E77 000000000001"}]
          }
        }
        """

    static let lockFile = """
        {
          "format": 1,
          "name": "Lock",
          "description": "A lock with two challenges in turn. The right answer opens it for five seconds.",
          "advertising": {"services": ["4C6F636B-0001-4861-7261-6C6420303031"]},
          "services": [
            {
              "uuid": "4C6F636B-0001-4861-7261-6C6420303031",
              "characteristics": [
                {
                  "uuid": "4C6F636B-0002-4861-7261-6C6420303031",
                  "id": "challenge",
                  "properties": ["read"],
                  "permission": "encrypted",
                  "value": "A1B2C3D4",
                  "changes": [{"after": 30, "value": "5E6F7081"}, {"after": 30, "value": "A1B2C3D4"}],
                  "repeat": true
                },
                {
                  "uuid": "4C6F636B-0003-4861-7261-6C6420303031",
                  "id": "answer",
                  "properties": ["write"],
                  "permission": "encrypted",
                  "onWrite": [
                    {
                      "if": {"equals": "D4C3B2A1"},
                      "whenValues": [{"characteristic": "challenge", "value": "A1B2C3D4"}],
                      "delay": 0.2,
                      "then": [{"set": "state", "value": "01"}, {"set": "state", "value": "00", "after": 5}]
                    },
                    {
                      "if": {"equals": "81706F5E"},
                      "whenValues": [{"characteristic": "challenge", "value": "5E6F7081"}],
                      "delay": 0.2,
                      "then": [{"set": "state", "value": "01"}, {"set": "state", "value": "00", "after": 5}]
                    },
                    {"delay": 1, "fault": {"attError": 129}}
                  ]
                },
                {
                  "uuid": "4C6F636B-0004-4861-7261-6C6420303031",
                  "id": "state",
                  "properties": ["read", "notify"],
                  "value": "00"
                }
              ]
            }
          ]
        }
        """

    static let faultyFile = """
        {
          "format": 1,
          "name": "Faulty",
          "description": "A badly behaved device, for tests of apps.",
          "services": [
            {
              "uuid": "Heart Rate",
              "characteristics": [
                {
                  "uuid": "Heart Rate Measurement",
                  "properties": ["notify"],
                  "value": "0E",
                  "notifyEvery": 0.05,
                  "descriptors": [{"uuid": "2901", "value": {"text": "too short, and too often"}}]
                },
                {
                  "uuid": "Body Sensor Location",
                  "properties": ["read"],
                  "value": "01",
                  "onRead": {"fault": {"length": 0}}
                }
              ]
            },
            {
              "uuid": "Battery",
              "characteristics": [
                {
                  "uuid": "Battery Level",
                  "properties": ["read", "notify"],
                  "value": "FF",
                  "onRead": {"delay": 2, "fault": {"attError": 14}, "everyNth": 2}
                }
              ]
            },
            {
              "uuid": "6661756C-0001-4861-7261-6C6420303031",
              "characteristics": [
                {
                  "uuid": "6661756C-0002-4861-7261-6C6420303031",
                  "properties": ["read", "write"],
                  "onRead": {"fault": {"noAnswer": true}},
                  "onWrite": [{"delay": 10, "fault": {"attError": 17}}],
                  "descriptors": [{"uuid": "2901", "value": {"text": "never answers a read"}}]
                }
              ]
            }
          ]
        }
        """
}
