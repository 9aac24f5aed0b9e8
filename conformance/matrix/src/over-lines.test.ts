import { tryOver } from './matrix.ts'

tryOver('lines')
