import { tryOver } from './matrix.ts'

tryOver('objects', 'text')
