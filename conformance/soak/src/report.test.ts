import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { drawPanel, ticksTo } from './chart.ts'
import { readCommandLine, type Settings } from './command-line.ts'
import { writeReport } from './report.ts'
import type { Recording } from './samples.ts'

describe('ticks', () => {
  it.each([
    [0, [0, 0.2]],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [7, [0, 2, 4, 6, 8]],
    [120, [0, 25, 50, 75, 100, 125]],
    [3_600, [0, 1_000, 2_000, 3_000, 4_000]],
  ])('up to %i are round numbers', (highest, ticks) => {
    expect(ticksTo(highest)).toEqual(ticks)
  })
})

it('draws each line within the panel', () => {
  const lines = [
    {
      name: 'a',
      points: [
        [0, 0],
        [5_000, 10],
        [10_000, 5],
      ] as const,
    },
  ]
  const svg = drawPanel({ title: 'a < b', unit: 'MB', lines }, 10_000)
  expect(svg).toContain('a &lt; b')
  const points = /points="([^"]+)"/
    .exec(svg)?.[1]
    ?.split(' ')
    .map((point) => point.split(',').map(Number))
  expect(points).toEqual([
    [62, 224],
    [304, 34],
    [546, 129],
  ])
})

it('writes JSON, and a page that needs no other file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'soak-report-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const resources = { heap: 1e7, rss: 1e8, cpu: 7, handles: { Timeout: 2 }, loopDelay: { p50: 10, p99: 20, max: 30 } }
  const latency = { p50: 1, p95: 2, p99: 3, p999: 4 }
  const recording: Recording = {
    samples: [5_000, 10_000].map((at) => ({
      at,
      operations: at,
      throughput: 9,
      latency,
      messages: at,
      held: { sessions: 4, streams: 3, requests: 0 },
      processes: { server: resources },
    })),
    rest: { server: { before: resources, after: resources } },
    running: 0,
    held: { sessions: 0, streams: 0, requests: 0 },
    outcomes: { call: { result: 7, 'closed, retryable': 2 } },
    failed: 1,
    failures: [{ at: 1, operation: 'call', problem: 'got <x>' }],
    changes: { made: 0, longestDelay: 0 },
    problems: { server: {}, clients: { 'a warning': 3 } },
    lost: 0,
    exit: undefined,
  }
  const checks = [{ name: 'a check', passed: false, found: 'a leak' }]
  writeReport(folder, readCommandLine(['--duration', '60']) as Settings, recording, checks)
  expect(JSON.parse(readFileSync(join(folder, 'soak.json'), 'utf8'))).toMatchObject({ checks, failed: 1 })
  const page = readFileSync(join(folder, 'soak.html'), 'utf8')
  for (const text of [
    'not flat',
    'a leak',
    'got &lt;x>',
    'closed, retryable',
    'a warning',
    'p99.9',
    '0.8 hours of 200 connections',
  ]) {
    expect(page).toContain(text.replace('>', '&gt;'))
  }
  expect(page.match(/<polyline/g)).toHaveLength(4 + 2 + 2 + 1 + 4)
  expect(page).not.toMatch(/(?:src|href)=/)
})
