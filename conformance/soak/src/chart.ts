/** Draws values over time as SVG, in panels. Colours are CSS variables of the page. */

export interface Line {
  readonly name: string
  readonly points: readonly (readonly [time: number, value: number])[]
}

export interface Panel {
  readonly title: string
  readonly unit: string
  readonly lines: readonly Line[]
}

const WIDTH = 560
const HEIGHT = 250
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 14, 34, 26]
const MOST_TICKS = 5

/** @param duration the end of the time axis, in ms */
export function drawPanel({ title, unit, lines }: Panel, duration: number): string {
  const highest = Math.max(0, ...lines.flatMap(({ points }) => points.map(([, value]) => value)))
  const up = ticksTo(highest)
  const top = up.at(-1) as number
  const [divisor, timeUnit] = duration >= 600_000 ? [60_000, 'min'] : [1_000, 's']
  const across = ticksTo(duration / divisor).filter((tick) => tick * divisor <= duration)
  const x = (time: number) => round(LEFT + (time / duration) * (WIDTH - LEFT - RIGHT))
  const y = (value: number) => round(HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM))
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">`,
    `<text x="${LEFT}" y="18" class="title">${escapeHtml(title)}</text>`,
    `<text x="${WIDTH - RIGHT}" y="18" text-anchor="end">${escapeHtml(unit)}</text>`,
    ...up.map(
      (tick) =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}"/>` +
        `<text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${formatNumber(tick)}</text>`,
    ),
    ...across.map((tick, index) => {
      const label = index === across.length - 1 ? `${formatNumber(tick)} ${timeUnit}` : formatNumber(tick)
      const at = x(tick * divisor)
      const anchor = at > WIDTH - 2 * RIGHT ? 'end' : 'middle'
      return `<text x="${at}" y="${HEIGHT - 6}" text-anchor="${anchor}">${label}</text>`
    }),
    ...lines.map(({ points }, index) => {
      const placed = points.map(([time, value]) => `${x(time)},${y(value)}`).join(' ')
      return `<polyline points="${placed}" class="c${index}"/>`
    }),
    '</svg>',
  ].join('\n')
}

/** Returns the names of the lines with their colours, as HTML. */
export function drawLegend(lines: readonly Line[]): string {
  return lines.map(({ name }, index) => `<span><i class="c${index}"></i>${escapeHtml(name)}</span>`).join(' ')
}

/** Returns round numbers from 0 to a maximum or more, at equal distances. */
export function ticksTo(highest: number): number[] {
  const distance = highest > 0 ? highest / MOST_TICKS : 0.2
  const power = 10 ** Math.floor(Math.log10(distance))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= distance) as number) * power
  const count = Math.max(1, Math.ceil(round(highest / step)))
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6)))
}

/** 12500 becomes `12,500`. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
