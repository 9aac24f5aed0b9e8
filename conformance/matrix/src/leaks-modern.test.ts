import { findLeaks } from './leaks.ts'

findLeaks('2026-07-28')
