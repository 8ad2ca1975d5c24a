import { examinePages } from './scenarios.ts'

examinePages({ part: 1, parts: 2 })
