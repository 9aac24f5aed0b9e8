import { describe, expect, it } from 'vitest'
import { axis, lineChart, type Panel, short } from './line-chart.ts'

const panel: Panel = {
  title: 'Cost <of> "more"',
  x: 'bytes',
  y: 'ms',
  isLinear: true,
  lines: [
    {
      name: 'ours & theirs',
      points: [
        [1, 0.5],
        [100, 20],
        [1_000, 300],
      ],
    },
  ],
}

describe('a chart', () => {
  it('has axes from one power of ten to another', () => {
    const { ticks, at } = axis([1, 100, 999], 0, 300)
    expect(ticks).toEqual([1, 10, 100, 1_000])
    expect([at(1), at(10), at(1_000)]).toEqual([0, 100, 300])
  })

  it('has an axis even if all values are equal', () => {
    expect(axis([10, 10], 0, 100).ticks).toEqual([10, 100])
    expect(axis([12], 0, 100).ticks).toEqual([10, 100])
  })

  it('draws each point of a line, and the expected growth', () => {
    const svg = lineChart([panel])
    expect(svg.match(/<circle [^>]*r="3"/g)).toHaveLength(3)
    expect(svg).toContain('stroke-dasharray')
    expect(lineChart([{ ...panel, isLinear: false }])).not.toContain('stroke-dasharray')
  })

  it('escapes text, and contains every number', () => {
    const svg = lineChart([panel, panel, panel])
    expect(svg).toContain('Cost &lt;of&gt; &quot;more&quot;')
    expect(svg).toContain('ours &amp; theirs')
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
    expect(svg).toContain('viewBox="0 0 860 580"')
  })

  it('has no background, and colours that are visible on any', () => {
    expect(lineChart([panel])).not.toMatch(/#fff|#000|black|white/)
  })

  it('abbreviates large numbers', () => {
    expect([0.1, 5, 1_500, 16_000_000].map(short)).toEqual(['0.1', '5', '1.5k', '16M'])
  })
})
