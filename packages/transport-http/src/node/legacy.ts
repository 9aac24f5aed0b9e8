/** The legacy era, for who loads it later: what is imported in both ways would have to be taken apart again. */

export { createLegacy } from '../server/eras/legacy.ts'
