import type { Check } from '../finding.ts'
import { services } from './services.ts'

/** Every check there is: what causes others comes before what follows from it. */
export const CHECKS: readonly Check[] = [services]
