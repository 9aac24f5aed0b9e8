/** Runs the suite on workerd: takes jobs as the body of a request, answers with reports. */
import { type Job, work } from '../job.ts'

// biome-ignore lint/style/noDefaultExport: workerd takes a worker's handlers from its default export
export default {
  async fetch(request: Request): Promise<Response> {
    return Response.json(await work((await request.json()) as Job[]))
  },
}
