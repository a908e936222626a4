extension ReadyMadeAccessory {
    static let glucoseFile = """
        {
          "format": 1,
          "name": "Glucose",
          "description": "A glucose meter with three records, which its record access control point reports.",
          "advertising": {"services": ["Glucose"]},
          "values": [{"id": "busy", "value": "00"}],
          "services": [
            {
              "uuid": "Glucose",
              "characteristics": [
                {
                  "uuid": "Glucose Measurement",
                  "properties": ["notify"],
                  "permission": {"notify": "encrypted"}
                },
                {"uuid": "Glucose Feature", "properties": ["read"], "value": {"uint16": 0}},
                {
                  "uuid": "Record Access Control Point",
                  "properties": ["write", "indicate"],
                  "permission": {"write": "encrypted", "notify": "encrypted"},
                  "onWrite": [
                    {"unlessSubscribed": ["2A52"], "fault": {"attError": 253}},
                    {"if": {"beginsWith": "01"}, "unlessSubscribed": ["2A18"], "fault": {"attError": 253}},
                    {
                      "if": {"equals": "0300"},
                      "then": [
                        {"cancel": "2A52"},
                        {"set": "busy", "value": "00"},
                        {"notify": "2A52", "value": "0600 0301"}
                      ]
                    },
                    {"whenValues": [{"characteristic": "busy", "value": "01"}], "fault": {"attError": 254}},
                    {
                      "if": {"equals": "0101"},
                      "then": [
                        {"set": "busy", "value": "01"},
                        {"notify": "2A18", "after": 0.1, "value": [{"uint8": 2}, {"uint16": 1}, "E907 01 02 07 1E 00", {"medfloat16": 0.0009}, "11"]},
                        {"notify": "2A18", "after": 0.2, "value": [{"uint8": 2}, {"uint16": 2}, "E907 01 02 0C 00 00", {"medfloat16": 0.0012}, "11"]},
                        {"notify": "2A18", "after": 0.3, "value": [{"uint8": 2}, {"uint16": 3}, "E907 01 02 12 1E 00", {"medfloat16": 0.0011}, "11"]},
                        {"set": "busy", "after": 0.4, "value": "00"},
                        {"notify": "2A52", "after": 0.4, "value": "0600 0101"}
                      ]
                    },
                    {
                      "if": {"equals": "0105"},
                      "then": [
                        {"set": "busy", "value": "01"},
                        {"notify": "2A18", "after": 0.1, "value": [{"uint8": 2}, {"uint16": 1}, "E907 01 02 07 1E 00", {"medfloat16": 0.0009}, "11"]},
                        {"set": "busy", "after": 0.2, "value": "00"},
                        {"notify": "2A52", "after": 0.2, "value": "0600 0101"}
                      ]
                    },
                    {
                      "if": {"equals": "0106"},
                      "then": [
                        {"set": "busy", "value": "01"},
                        {"notify": "2A18", "after": 0.1, "value": [{"uint8": 2}, {"uint16": 3}, "E907 01 02 12 1E 00", {"medfloat16": 0.0011}, "11"]},
                        {"set": "busy", "after": 0.2, "value": "00"},
                        {"notify": "2A52", "after": 0.2, "value": "0600 0101"}
                      ]
                    },
                    {
                      "if": {"equals": "0103 01 0200"},
                      "then": [
                        {"set": "busy", "value": "01"},
                        {"notify": "2A18", "after": 0.1, "value": [{"uint8": 2}, {"uint16": 2}, "E907 01 02 0C 00 00", {"medfloat16": 0.0012}, "11"]},
                        {"notify": "2A18", "after": 0.2, "value": [{"uint8": 2}, {"uint16": 3}, "E907 01 02 12 1E 00", {"medfloat16": 0.0011}, "11"]},
                        {"set": "busy", "after": 0.3, "value": "00"},
                        {"notify": "2A52", "after": 0.3, "value": "0600 0101"}
                      ]
                    },
                    {
                      "if": {"equals": "0103 01 0300"},
                      "then": [
                        {"set": "busy", "value": "01"},
                        {"notify": "2A18", "after": 0.1, "value": [{"uint8": 2}, {"uint16": 3}, "E907 01 02 12 1E 00", {"medfloat16": 0.0011}, "11"]},
                        {"set": "busy", "after": 0.2, "value": "00"},
                        {"notify": "2A52", "after": 0.2, "value": "0600 0101"}
                      ]
                    },
                    {"if": {"equals": "0401"}, "then": [{"notify": "2A52", "value": "0500 0300"}]},
                    {"if": {"equals": "0405"}, "then": [{"notify": "2A52", "value": "0500 0100"}]},
                    {"if": {"equals": "0406"}, "then": [{"notify": "2A52", "value": "0500 0100"}]},
                    {"if": {"equals": "0403 01 0200"}, "then": [{"notify": "2A52", "value": "0500 0200"}]},
                    {"if": {"equals": "0403 01 0300"}, "then": [{"notify": "2A52", "value": "0500 0100"}]},
                    {
                      "if": {"beginsWith": "0403 01"},
                      "then": [{"notify": "2A52", "value": "0500 0000"}]
                    },
                    {
                      "if": {"beginsWith": "0103 01"},
                      "then": [{"notify": "2A52", "value": "0600 0106"}]
                    },
                    {
                      "if": {"beginsWith": "01"},
                      "then": [{"notify": "2A52", "value": "0600 0104"}]
                    },
                    {
                      "if": {"beginsWith": "04"},
                      "then": [{"notify": "2A52", "value": "0600 0404"}]
                    },
                    {"then": [{"notify": "2A52", "value": ["0600", {"written": {"count": 1}}, "02"]}]}
                  ]
                }
              ]
            },
            {
              "uuid": "Device Information",
              "characteristics": [
                {"uuid": "Manufacturer Name String", "properties": ["read"], "value": {"text": "Harald"}},
                {"uuid": "Model Number String", "properties": ["read"], "value": {"text": "Glucose"}}
              ]
            }
          ]
        }
        """
}
