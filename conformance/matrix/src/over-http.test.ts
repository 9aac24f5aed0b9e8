import { testMatrix } from './matrix.ts'

testMatrix('HTTP', 'HTTP+SSE')
