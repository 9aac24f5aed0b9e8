/** Runs the suite in a page: gets jobs from where the page came from, and brings reports there. */
import { type Job, work } from '../job.ts'

const jobs = (await (await fetch('/jobs')).json()) as Job[]
await fetch('/reports', { method: 'POST', body: JSON.stringify(await work(jobs)) })
