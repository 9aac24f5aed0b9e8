/** Runs the suite on Node, Bun or Deno: reads jobs from its argument and prints reports as its last line. */
import process from 'node:process'
import { spawn } from '@mcpx/transport-stdio'
import { type Job, runJobs } from '../job.ts'

const jobs = JSON.parse(process.argv[2] ?? '[]') as Job[]
const reports = await runJobs(jobs, (command, args) => spawn(command, args))
console.log(JSON.stringify(reports))
