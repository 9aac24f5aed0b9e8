/** Draws line charts with logarithmic axes as SVG, in small panels, readable on light and dark backgrounds. */

export interface Line {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Panel {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: readonly Line[]
  /** Whether the cost is expected to grow linearly; otherwise it should be constant. */
  readonly isLinear: boolean
}

const WIDTH = 430
const HEIGHT = 290
const LEFT = 56
const RIGHT = 26
const TOP = 34
const BOTTOM = 62
const PER_ROW = 2

/** Colours that are visible on white and on black. */
const COLOURS = ['#2f81f7', '#d29922', '#3fb950', '#db61a2']
const GREY = '#8b949e'

export function lineChart(panels: readonly Panel[]): string {
  const rows = Math.ceil(panels.length / PER_ROW)
  const [width, height] = [WIDTH * Math.min(PER_ROW, panels.length), HEIGHT * rows]
  const style = `text{font:12px system-ui,sans-serif;fill:${GREY}}.t{font-weight:600;font-size:13px}line{stroke:${GREY};stroke-opacity:.3}`
  const body = panels.map((panel, index) => {
    const at = `${(index % PER_ROW) * WIDTH} ${Math.floor(index / PER_ROW) * HEIGHT}`
    return `<g transform="translate(${at})">\n${drawPanel(panel)}\n</g>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(panels.map(({ title }) => title).join('; '))}</title>`,
    `<style>${style}</style>`,
    ...body,
    '</svg>\n',
  ].join('\n')
}

function drawPanel({ title, x, y, lines, isLinear }: Panel): string {
  const points = lines.flatMap((line) => line.points)
  const across = axis(
    points.map(([value]) => value),
    LEFT,
    WIDTH - RIGHT,
  )
  const up = axis(
    points.map(([, value]) => value),
    HEIGHT - BOTTOM,
    TOP,
  )
  return [
    text(LEFT, 18, title, 'class="t"'),
    ...across.ticks.map(
      (tick) =>
        grid(across.at(tick), TOP, across.at(tick), HEIGHT - BOTTOM) +
        text(across.at(tick), HEIGHT - BOTTOM + 15, short(tick), MIDDLE),
    ),
    ...up.ticks.map(
      (tick) => grid(LEFT, up.at(tick), WIDTH - RIGHT, up.at(tick)) + text(LEFT - 6, up.at(tick) + 4, short(tick), END),
    ),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 31, `${x} → ${y}`, MIDDLE),
    ...(isLinear ? [expected(lines, across, up)] : []),
    ...lines.map((line, index) => drawLine(line, COLOURS[index % COLOURS.length] ?? GREY, across, up)),
    ...lines.map(({ name }, index) => legend(name, index)),
  ].join('\n')
}

const MIDDLE = 'text-anchor="middle"'
const END = 'text-anchor="end"'

interface Axis {
  readonly ticks: readonly number[]
  at(value: number): number
}

/** The range of the axis: from the power of ten below the minimum to the power of ten above the maximum. */
export function axis(values: readonly number[], from: number, to: number): Axis {
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index)),
    at: (value) => Math.round((from + ((Math.log10(value) - first) / (last - first)) * (to - from)) * 10) / 10,
  }
}

function drawLine({ points }: Line, colour: string, across: Axis, up: Axis): string {
  const placed = points.map(([x, y]) => `${across.at(x)},${up.at(y)}`)
  const dots = points.map(([x, y]) => `<circle cx="${across.at(x)}" cy="${up.at(y)}" r="3" fill="${colour}"/>`)
  return `<polyline points="${placed.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`
}

/** A dashed line with the slope of linear growth, through the last point of the first line. */
function expected(lines: readonly Line[], across: Axis, up: Axis): string {
  const [first, ...rest] = lines[0]?.points ?? []
  const last = rest.at(-1)
  if (first === undefined || last === undefined) return ''
  const [[fromX], [toX, toY]] = [first, last]
  const floor = up.ticks[0] ?? toY
  const start = Math.max(fromX, (toX * floor) / toY)
  const ends = `x1="${across.at(start)}" y1="${up.at((toY * start) / toX)}" x2="${across.at(toX)}" y2="${up.at(toY)}"`
  return `<line ${ends} style="stroke-opacity:.9;stroke-dasharray:4 4"/>`
}

function grid(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`
}

function legend(name: string, index: number): string {
  const [x, y] = [LEFT + index * 120, HEIGHT - 12]
  return `<circle cx="${x}" cy="${y - 4}" r="4" fill="${COLOURS[index % COLOURS.length]}"/>${text(x + 9, y, name)}`
}

function text(x: number, y: number, words: string, how = ''): string {
  return `<text x="${x}" y="${y}"${how && ` ${how}`}>${escaped(words)}</text>`
}

/** 1500 -> `1.5k`. */
export function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`
  if (value >= 1e3) return `${value / 1e3}k`
  return String(Number(value.toPrecision(3)))
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
