import { tryOver } from './matrix.ts'

tryOver('HTTP', 'HTTP+SSE')
