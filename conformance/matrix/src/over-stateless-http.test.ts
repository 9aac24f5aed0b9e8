import { testMatrix } from './matrix.ts'

testMatrix('HTTP without sessions')
