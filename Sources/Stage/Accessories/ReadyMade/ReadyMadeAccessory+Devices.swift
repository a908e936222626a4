extension ReadyMadeAccessory {
    static let keyboardFile = """
        {
          "format": 1,
          "name": "Keyboard",
          "description": "A bonded keyboard that presses A every two seconds, and whose address changes every minute.",
          "advertising": {"services": ["Human Interface Device"]},
          "security": {"fixedAddress": false, "addressLifetime": 60},
          "services": [
            {
              "uuid": "Battery",
              "characteristics": [{"uuid": "Battery Level", "properties": ["read", "notify"], "value": {"uint8": 64}}]
            },
            {
              "uuid": "Device Information",
              "characteristics": [{"uuid": "PnP ID", "properties": ["read"], "value": "01 FFFF 0100 0100"}]
            },
            {
              "uuid": "Human Interface Device",
              "includes": ["Battery"],
              "characteristics": [
                {"uuid": "HID Information", "properties": ["read"], "permission": "encrypted", "value": "1101 00 02"},
                {
                  "uuid": "Report Map",
                  "properties": ["read"],
                  "permission": "encrypted",
                  "value": "05010906A101050719E029E71500250175019508810295017508810195067508150025650507190029658100C0"
                },
                {"uuid": "HID Control Point", "properties": ["writeWithoutResponse"], "permission": "encrypted"},
                {
                  "uuid": "Report",
                  "properties": ["read", "notify"],
                  "permission": "encrypted",
                  "value": "0000 000000000000",
                  "changes": [
                    {"after": 1.9, "value": "0000 040000000000"},
                    {"after": 0.1, "value": "0000 000000000000"}
                  ],
                  "repeat": true,
                  "descriptors": [{"uuid": "Report Reference", "value": "00 01"}]
                }
              ]
            }
          ]
        }
        """

    static let firmwareTargetFile = """
        {
          "format": 1,
          "name": "Target",
          "description": "A target of firmware updates: a control point, packets of data, receipts and a CRC-32.",
          "advertising": {"services": ["6466752D-0001-4861-7261-6C6420303031"]},
          "values": [{"id": "image"}, {"id": "receipts", "value": "0000"}],
          "services": [
            {
              "uuid": "6466752D-0001-4861-7261-6C6420303031",
              "characteristics": [
                {
                  "uuid": "6466752D-0002-4861-7261-6C6420303031",
                  "id": "control",
                  "properties": ["write", "notify"],
                  "descriptors": [{"uuid": "2901", "value": {"text": "01 begins, 02 sets the packets for each receipt"}}],
                  "onWrite": [
                    {
                      "if": {"equals": "01"},
                      "then": [{"set": "image", "value": ""}, {"notify": "control", "value": "600101"}]
                    },
                    {
                      "if": {"length": 3},
                      "then": [
                        {"set": "receipts", "value": {"written": {"from": 1}}},
                        {"notify": "control", "value": "600201"}
                      ]
                    },
                    {
                      "if": {"equals": "03"},
                      "then": [{"notify": "control", "value": ["600301", {"size": "image"}, {"crc32": "image"}]}]
                    },
                    {
                      "if": {"equals": ["04", {"size": "image"}, {"crc32": "image"}]},
                      "delay": 0.5,
                      "then": [{"notify": "control", "value": "600401"}]
                    },
                    {"if": {"beginsWith": "04"}, "then": [{"notify": "control", "value": "600405"}]},
                    {"then": [{"notify": "control", "value": ["60", {"written": {"count": 1}}, "02"]}]}
                  ]
                },
                {
                  "uuid": "6466752D-0003-4861-7261-6C6420303031",
                  "id": "packets",
                  "properties": ["writeWithoutResponse"],
                  "onWrite": [
                    {
                      "then": [
                        {"append": "image", "value": {"written": {}}},
                        {
                          "notify": "control",
                          "everyNth": "receipts",
                          "value": ["600301", {"size": "image"}, {"crc32": "image"}]
                        }
                      ]
                    }
                  ]
                }
              ]
            }
          ]
        }
        """
}
