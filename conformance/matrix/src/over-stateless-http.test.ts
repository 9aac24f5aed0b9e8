import { tryOver } from './matrix.ts'

tryOver('HTTP without sessions')
