"""Draws a part with gnuplot, as SVG to be put into the page.

Colors are those of Okabe and Ito, which the color-blind can tell apart; marks and patterns
differ too. Black becomes the page's own color, so that a plot is readable on light and dark.
"""
import re
import subprocess

import grid as grids
from grid import number

WEFT = ["#D55E00", "#E69F00", "#A63603", "#6B4E16", "#F4C27A", "#3F1D00"]
PEER = ["#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#8C8C00", "#9467BD", "#5F7F9F"]
PAPER = ["black", "#808080"]
POINTS = {"weft": [7, 5, 9, 13, 11, 15], "peer": [4, 6, 8, 10, 12, 1, 2], "paper": [2, 1, 3]}
WIDTH = 860


def styles(columns):
    """(color, point, kind) of each column."""
    seen = {"weft": 0, "peer": 0, "paper": 0}
    colors = {"weft": WEFT, "peer": PEER, "paper": PAPER}
    for c in columns:
        n = seen[c.kind]
        seen[c.kind] += 1
        yield colors[c.kind][n % len(colors[c.kind])], POINTS[c.kind][n % len(POINTS[c.kind])]


def quote(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', "'") + '"'


def short(value):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= 10 * size or (value >= size and value % size == 0):
            return f"{value / size:.3g}{unit}"
    return f"{value:g}"


def marks(pairs):
    return "(" + ", ".join(f"{quote(text)} {place:g}" for text, place in pairs) + ")"


def log_marks(low, high):
    """1, 10, 100; with 2 and 5 between if there would be few."""
    steps = (1,) if high / low > 500 else (1, 2, 5)
    places = [m * 10.0 ** e for e in range(-9, 13) for m in steps]
    return marks((short(p), p) for p in places if low <= p <= high)


def scale(axis, found, log):
    """The range of an axis and the numbers on it. Logarithms only if they differ much."""
    low, high = min(found), max(found)
    if log and low > 0 and high / low >= 8:
        low, high = low / 1.5, high * 1.5
        return (f"set logscale {axis}\nset {axis}range [{low:g}:{high:g}]\n"
                f"set {axis}tics {log_marks(low, high)}\n")
    form = "%g" if high < 1e5 else "%.0s%c" if high < 1e6 else "%.1s%c"
    return f"set {axis}range [0:{high * 1.06 or 1:g}]\nset format {axis} '{form}'\n"


def drawn(grid):
    """The columns that have something to show."""
    return [c for c in grid.columns if any(c.cells[r].value is not None for r in c.cells)]


def values(columns):
    return [cell.value for c in columns for cell in c.cells.values() if cell.value is not None]


def blocks(grid, columns, place):
    """The data, a block for each column: where, value."""
    out = ""
    for i, c in enumerate(columns):
        out += f"$c{i} << END\n"
        for n, row in enumerate(grid.rows):
            cell = c.cells.get(row)
            if cell and cell.value is not None:
                out += f"{place(n, row)} {cell.value:.9g}\n"
        out += "END\n"
    return out


def lines(part, grid, columns):
    out = blocks(grid, columns, lambda n, row: number(row))
    out += f"set xlabel {quote(part.x)}\nset ylabel {quote(part.y)}\n"
    out += scale("x", [number(row) for row in grid.rows], "x" in part.log)
    out += scale("y", values(columns), "y" in part.log)
    out += f"set xtics {marks((short(number(r)), number(r)) for r in grid.rows)}\n"
    plots = []
    for i, (c, (color, point)) in enumerate(zip(columns, styles(columns))):
        dash = "dt 2" if c.kind == "paper" else "dt 1"
        plots.append(f"$c{i} using 1:2 with linespoints lw {3 if c.kind == 'weft' else 2} "
                     f"{dash} lc rgb '{color}' pt {point} ps 0.8 title {quote(c.name)}")
    return out + "plot " + ", ".join(plots) + "\n", 380


def bars(part, grid, columns):
    """Clusters of bars, one for each row; the paper's are hatched."""
    width = 0.8 / len(columns)
    out = blocks(grid, columns, lambda n, row: n)
    out += scale("y", values(columns), "y" in part.log)
    names = marks((grid.label(row), n) for n, row in enumerate(grid.rows))
    turn = "rotate by -20 " if max(len(r) for r in grid.rows) * len(grid.rows) > 90 else ""
    out += f"set xlabel {quote(part.x)}\nset ylabel {quote(part.y)}\n"
    out += f"set xtics {turn}{names} scale 0\nset xrange [-0.6:{len(grid.rows) - 0.4}]\n"
    out += f"set boxwidth {width * 0.92:.4f}\n"
    plots = []
    for i, (c, (color, _)) in enumerate(zip(columns, styles(columns))):
        shift = (i - (len(columns) - 1) / 2) * width
        fill = f"pattern {(4, 5, 1, 2)[i % 4]}" if c.kind == "paper" else "solid"
        plots.append(f"$c{i} using ($1+{shift:.4f}):2 with boxes fs {fill} border lc rgb '{color}' "
                     f"lc rgb '{color}' title {quote(c.name)}")
    return out + "plot " + ", ".join(plots) + "\n", 340


def dots(part, grid, columns):
    """A line for each row with a mark for each column: many, long names, any magnitude."""
    out = blocks(grid, columns, lambda n, row: n)
    out += scale("x", values(columns), "y" in part.log)
    names = marks((grid.label(row), n) for n, row in enumerate(grid.rows))
    out += f"set xlabel {quote(part.y)}\nset ytics {names} scale 0\n"
    out += f"set yrange [{len(grid.rows) - 0.5}:-0.5]\n"
    plots = []
    for i, (c, (color, point)) in enumerate(zip(columns, styles(columns))):
        size = 1.3 if c.kind == "weft" else 1.1
        plots.append(f"$c{i} using 2:1 with points lw 2 lc rgb '{color}' pt {point} ps {size} "
                     f"title {quote(c.name)}")
    return out + "plot " + ", ".join(plots) + "\n", 130 + 24 * len(grid.rows)


def key(columns):
    """Above the plot: how many across, and how high that is."""
    longest = max(len(c.name) for c in columns)
    across = min(len(columns), max(1, int(WIDTH / (110 + 8.5 * longest))))
    down = -(-len(columns) // across)
    return across, 20 * down + 16


def own(svg, name):
    """Fit for the page: its own names, the page's color instead of black."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"(id=['\"]|href=['\"]#|url\(#)", r"\g<1>" + name + "-", svg)
    svg = re.sub(r"rgb\(\s*0,\s*0,\s*0\)|\bblack\b", "currentColor", svg)
    return re.sub(r"<(title|desc)>.*?</\1>", "", svg, flags=re.S)


def draw(name, part, grid):
    """The SVG of a part, or "" if there is nothing to draw. Raises OSError without gnuplot."""
    columns = drawn(grid)
    if part.plot == "none" or not columns or not grid.measured():
        return ""
    if part.baseline:
        part, grid = grids.relative(part, grid)
        columns = drawn(grid)
    kind = {"lines": lines, "bars": bars, "dots": dots}[part.plot]
    if kind is lines and not grid.numeric():
        kind = dots
    body, height = kind(part, grid, columns)
    across, more = key(columns)
    script = (f"set terminal svg size {WIDTH},{height + more} dynamic noenhanced "
              "font 'sans-serif,14'\n"
              "set border 3 lc rgb '#808080'\nset tics nomirror tc rgb 'black'\n"
              "set grid lc rgb '#c0c0c0' lw 0.5 dt 3\n"
              f"set key at screen 0.5, screen 0.985 center top horizontal reverse Left "
              f"maxcols {across} samplen 2\n"
              f"set tmargin at screen {height / (height + more):.3f}\n" + body)
    done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"gnuplot: {done.stderr.strip()}\n{script}")
    return own(done.stdout, name)
