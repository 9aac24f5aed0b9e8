import { findLeaks } from './leaks.ts'

findLeaks('2025-11-25')
