"""Writes the page: one file that needs no other, for light and dark, on any browser."""
import html
import pathlib
import re
import time

import grid as grids
import plot

CSS = pathlib.Path(__file__).with_name("page.css")


def escape(text):
    return html.escape(str(text), quote=True)


def markdown(text):
    """The little of it that descriptions use."""
    text = escape(text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<![\w*])\*([^*]+)\*(?!\w)", r"<i>\1</i>", text)
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)


def figure(value):
    """Three digits, and all before the point."""
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.095 else f"{value:.2g}"


def cell(part, grid, column, row):
    c = column.cells.get(row)
    if c is None:
        return "<td></td>"
    if c.value is None:
        return f'<td class="none">{escape(c.why or "not measured")}</td>'
    text = figure(c.value)
    if c.spread:
        text += f' <small>±{c.spread * 100:.0f}%</small>'
    r = grids.ratio(part, grid, column, row)
    if r is not None:
        told = f"×{figure(r)}" if part.baseline else f"{figure(r)}×"
        why = f"in that of {part.baseline}" if part.baseline else "how many times better Weft is"
        text += f'<br><small title="{escape(why)}">{told}</small>'
    return f'<td class="{column.kind}">{text}</td>'


def table(part, grid):
    better = f"{part.y}; {part.better} is better" if part.y else ""
    out = [f'<div class="wide"><table><caption>{escape(better)}</caption><tr><th>{escape(part.x)}</th>']
    out += [f'<th class="{c.kind}">{escape(c.name)}</th>' for c in grid.columns]
    for row in grid.rows:
        out.append(f'</tr>\n<tr><th>{escape(grid.label(row))}</th>')
        out += [cell(part, grid, c, row) for c in grid.columns]
    return "".join(out) + "</tr></table></div>\n"


def run_line(run, rows):
    """When a benchmark was run, and how."""
    others = next((r["value"] for r in rows if r["who"] == "machine"), None)
    noise = "" if others is None else f"; other processes used {others:.0f}% of the CPUs"
    if others is not None and others > 10:
        noise += ", which is much: repeat it on a quiet machine"
    took = f', {run["seconds"]:.0f} s' if "seconds" in run else ""
    return (f'<code>{escape(run["command"])}</code>: {escape(run["date"])}, revision '
            f'{escape(run["revision"])}{took}{noise}.<br>')


class Page:
    def __init__(self, title, intro, store, known, command, warn):
        self.title, self.intro, self.store, self.command = title, intro, store, command
        self.known = known      # names of benchmarks that there are
        self.warn = warn        # tells the user
        self.plots = True

    def rows_of(self, bench):
        return self.store.load(bench)[1]

    def draw(self, name, part, grid):
        if not self.plots:
            return ""
        try:
            svg = plot.draw(name, part, grid)
        except FileNotFoundError:
            self.warn("there is no gnuplot: the page has no plots")
            self.plots = False
            return ""
        return f'<div class="plot">{svg}</div>\n' if svg else ""

    def trouble(self, bench):
        """Why a benchmark has no figures, or not all; and whether that is a failure."""
        run, rows = self.store.load(bench)
        if run is None:
            why = "not run yet" if bench in self.known else "no such benchmark"
            return f"<p class='note'>{bench}: not measured: {why}.</p>\n", "not measured"
        if run.get("error"):
            return f"<p class='bad'>{bench}: FAILED: {escape(run['error'])}</p>\n", "failed"
        failed = [r for r in rows if "error" in r]
        out = "".join(f"<p class='bad'>{bench}, {escape(r['case'])}, {escape(r['who'])}: FAILED: "
                      f"{escape(r['error'])}</p>\n" for r in failed)
        return out, "failed in part" if failed else ""

    def state(self, e):
        if e.cannot:
            return "cannot be run"
        states = [self.trouble(b)[1] for b in e.benches()]
        for state in ("failed", "failed in part"):
            if state in states:
                return state
        missing = states.count("not measured")
        return "not measured" if missing == len(states) else "measured in part" if missing else ""

    def part(self, e, n, part):
        grid = grids.fill(part, self.rows_of)
        if not grid.columns:
            return ""
        body = self.draw(f"{e.id}-{n}", part, grid) + table(part, grid)
        if part.fold:
            return f"<details><summary>{escape(part.title)}</summary>\n{body}</details>\n"
        return (f"<h4>{escape(part.title)}</h4>\n" if part.title and len(e.parts) > 1 else "") + body

    def experiment(self, e):
        out = [f'<section id="{e.id}"><h3><a href="#{e.id}">{escape(e.title)}</a> '
               f'<small>{e.id if e.id != e.title else ""}</small></h3>\n<p>{markdown(e.what)}</p>\n']
        if e.says:
            out.append(f"<p><b>The paper:</b> {markdown(e.says)}</p>\n")
        if e.cannot:
            return "".join(out) + f"<p class='note'>Not run here: {markdown(e.cannot)}</p></section>\n"
        out += [self.part(e, n, p) for n, p in enumerate(e.parts)]
        if e.computed:
            out.append("<ul>" + "".join(f"<li>{escape(c)}</li>\n" for c in e.computed) + "</ul>\n")
        if e.differs:
            out.append(f"<p><b>What differs:</b> {markdown(e.differs)}</p>\n")
        out += [self.trouble(b)[0] for b in e.benches()]
        return "".join(out) + self.runs(e) + "</section>\n"

    def runs(self, e):
        """Where and when it was measured, and how it is measured again."""
        runs = [(run, rows) for run, rows in map(self.store.load, e.benches()) if run]
        where = "; ".join(dict.fromkeys(run["machine"] for run, _ in runs))
        return ("<p class='run'>" + "".join(run_line(*r) for r in runs) +
                (f"Machine: {escape(where)}.<br>" if where else "") +
                f"Again: <code>{escape(self.command(e))}</code></p>")

    def contents(self, groups):
        out = ["<nav>"]
        for name, _, experiments in groups:
            out.append(f"<h3>{escape(name)}</h3><ul>" if name else "<ul>")
            for e in experiments:
                state = self.state(e)
                mark = f' <small class="{state.split()[0]}">{state}</small>' if state else ""
                out.append(f'<li><a href="#{e.id}">{escape(e.title)}</a>{mark}</li>\n')
            out.append("</ul>")
        return "".join(out) + "</nav>\n"

    def write(self, path, groups):
        """groups: (heading, text, experiments)."""
        body = [f"<h1>{escape(self.title)}</h1>\n<p>{markdown(self.intro)}</p>\n",
                self.contents(groups)]
        for name, text, experiments in groups:
            if name:
                body.append(f"<h2>{escape(name)}</h2>\n<p>{markdown(text)}</p>\n")
            body += [self.experiment(e) for e in experiments]
        pathlib.Path(path).write_text(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title>\n<style>\n{CSS.read_text()}</style></head>\n"
            f"<body>\n{''.join(body)}<footer>Written {time.strftime('%Y-%m-%d %H:%M')}.</footer>"
            "</body></html>\n")
