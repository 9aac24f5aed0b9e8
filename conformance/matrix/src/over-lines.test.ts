import { testMatrix } from './matrix.ts'

testMatrix('lines')
