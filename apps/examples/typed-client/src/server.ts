/** The server. A client only imports its type. */
import { createServer, ToolError } from '@mcpx/server'
import { z } from 'zod'

const Forecast = z.object({ city: z.string(), celsius: z.number(), sky: z.enum(['clear', 'cloudy', 'rain']) })

export const server = createServer({ name: 'weather', version: '1.0.0' })
  .tool('now', { input: z.object({ city: z.string() }), output: Forecast }, ({ city }) => {
    if (city === 'Atlantis') throw new ToolError('There is no weather in Atlantis.')
    return { city, celsius: 21, sky: 'clear' as const }
  })
  .tool(
    'compare',
    {
      input: z.object({ cities: z.array(z.string()).min(2), unit: z.enum(['C', 'F']).default('C') }),
      output: z.object({ warmest: z.string(), by: z.number() }),
    },
    ({ cities, unit }) => ({ warmest: cities[0] ?? '', by: unit === 'C' ? 5 : 9 }),
  )
  .tool('cities', { output: z.object({ names: z.array(z.string()) }) }, () => ({ names: ['Oslo', 'Bergen'] }))

export type Weather = typeof server
