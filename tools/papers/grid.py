"""Puts what was measured and what the paper printed into rows and columns."""
import re
from dataclasses import dataclass, field, replace


@dataclass
class Cell:
    value: float = None
    spread: float = None
    why: str = ""              # there is no value


@dataclass
class Column:
    name: str
    kind: str                  # paper, weft, peer
    cells: dict = field(default_factory=dict)


@dataclass
class Grid:
    rows: list
    columns: list

    def numeric(self):
        return all(number(r) is not None for r in self.rows)

    def label(self, row):
        return f"{number(row):,.0f}" if self.numeric() else row

    def measured(self):
        return any(c.value is not None for column in self.columns if column.kind != "paper"
                   for c in column.cells.values())


def number(text):
    try:
        return float(str(text).replace(",", ""))
    except ValueError:
        return None


def candidates(row, columns):
    """The cases that a row may be. One that failed is said once, without its column."""
    if row["value"] is None and ("error" in row or "missing" in row):
        return [row["case"]] + [f"{row['case']}: {c}" for c in columns]
    return [row["case"]]


def matches(take, rows):
    """(groups, row) for each row that a take means. What papers say is typed in with the take."""
    columns = {r["case"].rpartition(": ")[2] for r in rows}
    for row in rows:
        if row["who"] == "machine" or "source" in row or not re.fullmatch(take.who, row["who"]):
            continue
        if row["value"] is not None and not re.fullmatch(take.unit, row["unit"]):
            continue
        for case in candidates(row, columns):
            found = re.fullmatch(take.case, case)
            if found:
                yield found.groupdict(), row
                break


def name_of(who):
    return "Weft" + who[4:] if who.startswith("weft") else who


def fill(part, rows_of):
    """The table of a part; rows_of(bench) gives what is known of a benchmark."""
    columns, rows = {}, {}
    for series, cells in part.paper.items():
        column = columns.setdefault(series + " (paper)", Column(series + " (paper)", "paper"))
        for row, value in cells.items():
            rows[row] = None
            column.cells[row] = Cell(value)
    for take in part.take:
        for groups, found in matches(take, rows_of(take.bench)):
            groups["who"] = name_of(found["who"])
            row, series = take.row.format(**groups), take.series.format(**groups)
            weft = take.weft or found["who"].startswith("weft")
            column = columns.setdefault(series, Column(series, "weft" if weft else "peer"))
            rows[row] = None
            column.cells[row] = Cell(found["value"], found.get("spread"),
                                     found.get("error") or found.get("missing") or "")
    grid = Grid(list(rows), list(columns.values()))
    if grid.numeric():
        grid.rows.sort(key=number)
    grid.columns.sort(key=lambda c: ["paper", "weft", "peer"].index(c.kind))
    return grid


def value(column, row):
    return column.cells[row].value if row in column.cells else None


def base_of(part, grid, column):
    """What the numbers of a column are compared with: its own baseline, or one of its kind."""
    same = [c for c in grid.columns if c.kind == column.kind]
    return next((v for c in [column] + same if (v := value(c, part.baseline))), None)


def relative(part, grid):
    """The same with all numbers in those of the baseline: what can be shown of many machines."""
    columns = []
    for c in grid.columns:
        base = base_of(part, grid, c)
        cells = {r: Cell(cell.value / base) for r, cell in c.cells.items()
                 if base and cell.value is not None}
        columns.append(Column(c.name, c.kind, cells))
    return replace(part, y=f"times that of {part.x} {part.baseline}"), Grid(grid.rows, columns)


def ratio(part, grid, column, row):
    """How a number compares: with its baseline, or Weft's best with it (how many times better
    Weft is). None where there is nothing to compare."""
    here = value(column, row)
    if not here or not part.compare:
        return None
    if part.baseline:
        base = base_of(part, grid, column)
        return here / base if base and row != part.baseline else None
    ours = [v for c in grid.columns if c.kind == "weft" and (v := value(c, row))]
    if column.kind == "weft" or not ours:
        return None
    return here / min(ours) if part.better == "lower" else max(ours) / here
