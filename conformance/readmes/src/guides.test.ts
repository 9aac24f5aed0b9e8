import { documents } from './documents.ts'
import { readDocument } from './read-document.ts'

documents.filter((path) => path.startsWith('docs/') || path.startsWith('apps/')).forEach(readDocument)
