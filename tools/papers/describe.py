"""What is reported: reads experiments/*.toml, or makes it up from what a benchmark printed.

A paper has experiments, an experiment has parts, a part is one plot and one table. The
cells of the table are the paper's figures, typed in, and what benchmarks measure: each
`take` says which benchmark, and which of its cases by a regular expression.
"""
import pathlib
import re
import sys
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).parent


@dataclass
class Take:
    """Cases of one benchmark. Groups of `case`, and {who}, may be used in row and series."""
    bench: str
    case: str                  # the whole case must match
    row: str = "{row}"
    series: str = "{who}"
    who: str = ".*"
    unit: str = ".*"
    weft: bool = False         # all of these are Weft's, whatever they are called


@dataclass
class Part:
    take: list
    title: str = ""
    x: str = ""                # what the rows are
    y: str = ""                # what the numbers are, with the unit
    better: str = "lower"
    plot: str = "dots"         # dots, bars, lines, none
    log: str = ""              # of "lines": which axes; of the others: "y", or none
    baseline: str = ""         # numbers are compared with this row of the same column,
                               # else with Weft's in the same row
    compare: bool = True       # false: ratios would mean nothing
    fold: bool = False         # only shown on demand
    paper: dict = field(default_factory=dict)    # series -> row -> number


@dataclass
class Experiment:
    id: str
    title: str
    what: str
    differs: str = ""          # from the paper's: one honest sentence
    says: str = ""             # what the paper's text tells of a figure that has no numbers
    cannot: str = ""           # why it cannot be run here
    parts: list = field(default_factory=list)
    computed: list = field(default_factory=list)    # lines of text

    def benches(self):
        return list(dict.fromkeys(t.bench for p in self.parts for t in p.take))


@dataclass
class Paper:
    name: str
    title: str
    machine: str
    experiments: list


def make_part(table, bench):
    take = [Take(**{"bench": bench} | t) for t in table.pop("take")]
    for t in take:
        re.compile(t.case)
    return Part(take=take, **table)


def make_experiment(table):
    bench = table.pop("bench", None)
    parts = [make_part(p, bench) for p in table.pop("part", [])]
    e = Experiment(parts=parts, **table)
    if bool(e.parts) == bool(e.cannot):
        raise ValueError(f"{e.id}: has parts, or cannot be run: one of the two")
    return e


def load_table(path):
    try:
        import tomllib    # only here: the page of `make bench` does without
    except ImportError:
        sys.exit("papers: this needs Python 3.11 or newer")
    with open(path, "rb") as f:
        return tomllib.load(f)


def load_paper(path):
    table = load_table(path)
    experiments = [make_experiment(e) for e in table.pop("experiment")]
    return Paper(experiments=experiments, **table)


def load_papers():
    """In the order in which they were written, and this project grew."""
    names = ["libasync-mp", "mely", "tame", "capriccio", "ac"]
    return [load_paper(HERE / "experiments" / (n + ".toml")) for n in names]


def load_shares():
    """What `make papers` gives each benchmark: its arguments, and how long it then takes."""
    return load_table(HERE / "benches.toml")


def paragraphs(text):
    """name -> what docs/bench.md tells of that benchmark."""
    found = {}
    for m in re.finditer(r"^((?:\*\*[\w-]+\*\*,? )+)(.+?)(?=\n\n|\Z)", text, re.M | re.S):
        for name in re.findall(r"[\w-]+", m[1]):
            found[name] = m[2].replace("\n", " ")
    return found


def variant_of(case, who, cases):
    """("64 conns", "Weft, uring") for weft's case "64 conns, uring" beside peers' "64 conns"."""
    for other, others in cases.items():
        if case.startswith(other + ", ") and who == "weft" and "weft" not in others:
            return other, "Weft, " + case[len(other) + 2:]
    return case, None


def split_case(row, many):
    """(label, column) of a row of a benchmark; the column is None in a row that failed."""
    if row["value"] is None and ("error" in row or "missing" in row):
        return row["case"], None
    label, _, column = row["case"].rpartition(": ") if many else (row["case"], "", "")
    return label, column


def computed(rows):
    """The lines under a benchmark's table."""
    for r in rows:
        if "aim" in r and r["value"] is not None:
            yield (f"{r['case']}: {r['value']:.3g} {r['unit']}" +
                   (f" ±{r['spread'] * 100:.0f}%" if r["spread"] else "") +
                   (f" (aim: {r['aim']})" if r["aim"] else ""))


def from_rows(bench, what, every):
    """An experiment for the page of `make bench`: a part for each column of the benchmark."""
    rows = [r for r in every if r["who"] != "machine" and "aim" not in r and "source" not in r]
    many = any(": " in r["case"] for r in rows)
    known = [(*split_case(r, many), r) for r in rows]
    cases = {}
    for label, _, r in known:
        cases.setdefault(label, set()).add(r["who"])
    alone = all(r["who"] == "weft" for r in rows)
    columns = dict.fromkeys((c, r["unit"], r["better"]) for _, c, r in known if c is not None)
    parts = []
    for column, unit, better in columns:
        take = []
        for label, c, r in known:
            if c is not None and (c, r["unit"]) != (column, unit):
                continue
            row, series = variant_of(label, r["who"], cases)
            take.append(Take(bench=bench, case=re.escape(r["case"]), who=re.escape(r["who"]),
                             unit=re.escape(unit), series=series or "{who}",
                             row=row.replace("{", "{{").replace("}", "}}")))
        parts.append(Part(take=take, title=column, x="case", y=f"{column} ({unit})" if column else unit,
                          better=better, plot="none" if parts else "dots", log="y",
                          fold=len(parts) >= (1 if alone else 3)))
    return Experiment(id=bench, title=bench, what=what, parts=parts,
                      computed=list(computed(every)))
