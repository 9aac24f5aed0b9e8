/** Runs the suite on workerd: reads jobs from the body of a request and responds with reports. */
import { type Job, runJobs } from '../job.ts'

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default {
  async fetch(request: Request): Promise<Response> {
    return Response.json(await runJobs((await request.json()) as Job[]))
  },
}
