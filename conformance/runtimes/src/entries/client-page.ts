/** Runs the suite in a page: fetches jobs from the origin of the page and sends the reports there. */
import { type Job, runJobs } from '../job.ts'

const jobs = (await (await fetch('/jobs')).json()) as Job[]
await fetch('/reports', { method: 'POST', body: JSON.stringify(await runJobs(jobs)) })
