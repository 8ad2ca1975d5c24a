import { rehearseHalf } from './half.ts'

await rehearseHalf(1)
