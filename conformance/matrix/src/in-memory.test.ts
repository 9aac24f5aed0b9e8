import { testMatrix } from './matrix.ts'

testMatrix('objects', 'text')
