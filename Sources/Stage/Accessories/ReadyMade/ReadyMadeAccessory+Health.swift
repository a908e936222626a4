extension ReadyMadeAccessory {
    static let heartRateFile = """
        {
          "format": 1,
          "name": "Heart Rate",
          "description": "A heart rate sensor on the chest, with one measurement a second.",
          "advertising": {"services": ["Heart Rate"]},
          "services": [
            {
              "uuid": "Heart Rate",
              "characteristics": [
                {
                  "uuid": "Heart Rate Measurement",
                  "properties": ["notify"],
                  "value": [{"uint8": 14}, {"uint8": 72}, {"uint16": 0}],
                  "changes": [
                    {"after": 1, "value": [{"uint8": 14}, {"uint8": 73}, {"uint16": 1}]},
                    {"after": 1, "value": [{"uint8": 14}, {"uint8": 75}, {"uint16": 2}]},
                    {"after": 1, "value": [{"uint8": 14}, {"uint8": 78}, {"uint16": 3}]},
                    {"after": 1, "value": [{"uint8": 14}, {"uint8": 76}, {"uint16": 4}]},
                    {"after": 1, "value": [{"uint8": 14}, {"uint8": 74}, {"uint16": 5}]}
                  ],
                  "repeat": true
                },
                {"uuid": "Body Sensor Location", "properties": ["read"], "value": {"uint8": 1}},
                {
                  "uuid": "Heart Rate Control Point",
                  "properties": ["write"],
                  "onWrite": [
                    {
                      "if": {"equals": "01"},
                      "then": [{"set": "2A37", "value": [{"uint8": 14}, {"uint8": 72}, {"uint16": 0}]}]
                    },
                    {"fault": {"attError": 128}}
                  ]
                }
              ]
            },
            {
              "uuid": "Battery",
              "characteristics": [{"uuid": "Battery Level", "properties": ["read", "notify"], "value": {"uint8": 87}}]
            }
          ]
        }
        """

    static let thermometerFile = """
        {
          "format": 1,
          "name": "Thermometer",
          "description": "A thermometer in the mouth, which indicates a temperature every two seconds.",
          "advertising": {"services": ["Health Thermometer"]},
          "services": [
            {
              "uuid": "Health Thermometer",
              "characteristics": [
                {
                  "uuid": "Temperature Measurement",
                  "properties": ["indicate"],
                  "value": [{"uint8": 4}, {"medfloat32": 36.6}, {"uint8": 6}],
                  "changes": [
                    {"after": 2, "value": [{"uint8": 4}, {"medfloat32": 36.7}, {"uint8": 6}]},
                    {"after": 2, "value": [{"uint8": 4}, {"medfloat32": 36.9}, {"uint8": 6}]},
                    {"after": 2, "value": [{"uint8": 4}, {"medfloat32": 36.6}, {"uint8": 6}]}
                  ],
                  "repeat": true
                },
                {"uuid": "Temperature Type", "properties": ["read"], "value": {"uint8": 6}}
              ]
            }
          ]
        }
        """

    static let weightScaleFile = """
        {
          "format": 1,
          "name": "Scale",
          "description": "A scale that indicates a weight of 72.5 kg every five seconds while a central is subscribed.",
          "advertising": {"services": ["Weight Scale"]},
          "services": [
            {
              "uuid": "Weight Scale",
              "characteristics": [
                {"uuid": "Weight Scale Feature", "properties": ["read"], "value": {"uint32": 0}},
                {
                  "uuid": "Weight Measurement",
                  "properties": ["indicate"],
                  "value": [{"uint8": 0}, {"uint16": 14500}],
                  "notifyEvery": 5
                }
              ]
            }
          ]
        }
        """
}
