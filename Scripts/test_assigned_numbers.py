#!/usr/bin/env python3
"""Tests what assigned_numbers.py makes of the SIG's files. Run by Scripts/lint."""
import unittest

import assigned_numbers

UNITS = {"percentage": 0x27AD, "length.metre": 0x2701}


def field(kind: str, description: str = "", size: str = "2", name: str = "Level") -> dict[str, str]:
    return {"field": name, "type": kind, "size": size, "description": description}


class Names(unittest.TestCase):
    def test_a_table_is_sorted_and_keeps_the_first_name(self) -> None:
        rows = [("0100", "b"), ("00FF", "a"), ("0100", "c")]
        self.assertEqual(assigned_numbers.table(rows), ["00FF a", "0100 b"])

    def test_a_name_that_would_end_the_literal_is_refused(self) -> None:
        for name in ["", 'x"""#']:
            with self.assertRaises(SystemExit):
                assigned_numbers.table([("0000", name)])

    def test_names_are_one_line_of_visible_text(self) -> None:
        self.assertEqual(assigned_numbers.clean("A\u00a0B\n  C\u200b\x1b D"), "A B C D")
        self.assertEqual(assigned_numbers.clean(r"CO\textsubscript{2}"), "CO2")

    def test_companies(self) -> None:
        parsed = {"company_identifiers": [{"value": 0x59, "name": "Nordic Semiconductor ASA"}, {"value": 2, "name": "Intel"}]}
        self.assertEqual(assigned_numbers.companies(parsed), ["0002 Intel", "0059 Nordic Semiconductor ASA"])

    def test_uuids_have_the_letter_of_their_kind(self) -> None:
        files = {name: {"uuids": []} for name in assigned_numbers.UUID_FILES}
        files["service_uuids"]["uuids"] = [{"uuid": 0x180D, "name": "Heart Rate"}, {"uuid": 0x1800, "name": "GAP"}]
        files["units"]["uuids"] = [{"uuid": 0x2700, "name": "unitless"}]
        self.assertEqual(
            assigned_numbers.uuids(files), ["1800 s Generic Access", "180D s Heart Rate", "2700 u unitless"]
        )

    def test_an_appearance_has_its_category_in_the_upper_ten_bits(self) -> None:
        categories = [{"category": 0xD, "name": "Heart Rate Sensor", "subcategory": [{"value": 1, "name": "Belt"}]}]
        self.assertEqual(
            assigned_numbers.appearances({"appearance_values": categories}), ["0340 Heart Rate Sensor", "0341 Belt"]
        )

    def test_a_version_is_a_number(self) -> None:
        parsed = {"core_version": [
            {"value": 3, "name": "Bluetooth® Core Specification 2.0+EDR (Withdrawn)"},
            {"value": 12, "name": "Bluetooth® Core Specification 5.3"},
        ]}  # fmt: skip
        self.assertEqual(assigned_numbers.versions(parsed), ["0003 2.0+EDR", "000C 5.3"])


class Layouts(unittest.TestCase):
    def test_a_number_has_a_scale_a_unit_and_special_values(self) -> None:
        text = 'Base Unit: org.bluetooth.unit.percentage\nRepresented values: M = 1, d = - 2, b = 0\n' \
               'A value of 0xFFFF represents "value is not known".'
        self.assertEqual(assigned_numbers.scalar(field("uint16", text), UNITS), "u2 1 -2 0 27AD FFFF")

    def test_metre_has_two_spellings(self) -> None:
        text = "Base Unit: org.bluetooth.unit.length.meter."
        self.assertEqual(assigned_numbers.scalar(field("sint24", text), UNITS), "s3 1 0 0 2701 -")

    def test_medical_floats(self) -> None:
        self.assertEqual(
            assigned_numbers.scalar(field("medfloat16", "Unit: org.bluetooth.unit.percentage"), UNITS), "f16 1 0 0 27AD -"
        )

    def test_bits_lists_enumerations_and_optional_fields_have_no_layout(self) -> None:
        unit = "Unit: org.bluetooth.unit.percentage"
        for each in [
            field("boolean[8]", unit), field("uint16[n]", unit), field("struct", unit), field("uint8", unit, "0 or 1"),
            field("uint8", r"See \autoref{sec:x}"), field("uint8", "0: No / 1: Yes"), field("uint8", "Unit: org.bluetooth.unit.x"),
        ]:  # fmt: skip
            self.assertIsNone(assigned_numbers.scalar(each, UNITS), each)

    def test_several_fields_have_names_without_that_of_the_characteristic(self) -> None:
        unit = "Unit: org.bluetooth.unit.percentage"
        fields = [field("uint8", unit, "1", "Zone - Low"), field("uint8", unit, "1", "High")]
        self.assertEqual(
            assigned_numbers.layout({"name": "Zone", "structure": fields}, UNITS), "u1 1 0 0 27AD -:Low;u1 1 0 0 27AD -:High"
        )

    def test_text(self) -> None:
        self.assertEqual(assigned_numbers.layout({"name": "x", "structure": [field("utf8s")]}, UNITS), "text")
        self.assertIsNone(assigned_numbers.layout({"name": "x", "structure": []}, UNITS))

    def test_exclusions_and_corrections(self) -> None:
        text = "Unit: org.bluetooth.unit.percentage, M = 1, d = 0, b = 6"
        ids = [f"org.bluetooth.characteristic.{each}" for each in ("high_voltage", "time_accuracy")]
        described = [{"identifier": each, "name": "x", "structure": [field("uint24", text)]} for each in ids]
        numbers = {ids[0]: 0x2BE0, ids[1]: 0x2A12}
        self.assertEqual(assigned_numbers.layouts(described, numbers, UNITS), ["2BE0 u3 1 0 -6 27AD -"])


if __name__ == "__main__":
    unittest.main(argv=[__file__, "--quiet"])
